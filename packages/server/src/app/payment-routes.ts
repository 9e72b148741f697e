/** The four endpoints of the read API. Source: docs/interface.md 4.1. @module */
import { paths } from '@payment-integration/contract'
import type { IntegrationQueries } from '@payment-integration/core'
import type { Context, Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'
import { readListQuery } from './read-query.js'
import { refuseBody } from './request-parts.js'

/** The part of the queries that the read API uses. */
export interface ReadQueries {
  forIntegration(integrationAddress: string): Pick<IntegrationQueries, 'listPayments' | 'getPayment'>
}

/** Adds the read API. The guard has authenticated the request and set `caller`. */
export function addPaymentRoutes(app: Hono<AppEnv>, { queries }: { readonly queries: ReadQueries }): void {
  const own = (c: Context<AppEnv>) => queries.forIntegration(c.get('caller').integrationAddress)
  app.get(paths.payments, async (c) => {
    refuseBody(c.req.raw)
    return jsonAnswer(await own(c).listPayments(readListQuery(c.req.raw.url)))
  })
  app.get(paths.payment, async (c) => {
    refuseBody(c.req.raw)
    return jsonAnswer(await own(c).getPayment({ txHash: c.req.param('txHash') }))
  })
  app.get(paths.walletPayments, async (c) => {
    refuseBody(c.req.raw)
    const wallet = c.req.param('address')
    return jsonAnswer(await own(c).listPayments({ ...readListQuery(c.req.raw.url), wallet }))
  })
  app.get(paths.walletPayment, async (c) => {
    refuseBody(c.req.raw)
    const { address: wallet, txHash } = c.req.param()
    return jsonAnswer(await own(c).getPayment({ txHash, wallet }))
  })
  for (const path of [paths.payments, paths.payment, paths.walletPayments, paths.walletPayment])
    allowMethods(app, path, ['GET', 'HEAD'])
}
