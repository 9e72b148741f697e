/** The four endpoints of the read API. Source: docs/interface.md 4.1. @module */
import { paths } from '@payment-integration/contract'
import type { Service } from '@payment-integration/core'
import type { Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'
import { readListQuery } from './read-query.js'
import { refuseBody } from './request-parts.js'

/** Adds the read API. The guard has authenticated the request and set `caller`. */
export function addPaymentRoutes(app: Hono<AppEnv>, { payments }: Pick<Service, 'payments'>): void {
  app.get(paths.payments, async (c) => {
    refuseBody(c.req.raw)
    return jsonAnswer(await payments.list(c.get('caller'), readListQuery(c.req.raw.url)))
  })
  app.get(paths.payment, async (c) => {
    refuseBody(c.req.raw)
    return jsonAnswer(await payments.get(c.get('caller'), { txHash: c.req.param('txHash') }))
  })
  app.get(paths.walletPayments, async (c) => {
    refuseBody(c.req.raw)
    const wallet = c.req.param('address')
    return jsonAnswer(await payments.list(c.get('caller'), { ...readListQuery(c.req.raw.url), wallet }))
  })
  app.get(paths.walletPayment, async (c) => {
    refuseBody(c.req.raw)
    const { address: wallet, txHash } = c.req.param()
    return jsonAnswer(await payments.get(c.get('caller'), { txHash, wallet }))
  })
  for (const path of [paths.payments, paths.payment, paths.walletPayments, paths.walletPayment])
    allowMethods(app, path, ['GET', 'HEAD'])
}
