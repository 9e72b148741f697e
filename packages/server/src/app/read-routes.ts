/** The endpoints of the read API and of the legacy API. Source: docs/interface.md 4.1, 4.3. @module */
import { paths } from '@payment-integration/contract'
import {
  type IntegrationQueries,
  LegacyRequestError,
  parseVerifyRequest,
  type Service,
} from '@payment-integration/core'
import { readRequestBody } from '@payment-integration/core/internal'
import type { Context, Hono } from 'hono'
import {
  type AppEnv,
  allowMethods,
  encodingFlaw,
  jsonAnswer,
  maxBodyBytes,
  readListQuery,
  refuseBody,
} from './requests.js'

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

/**
 * Adds look-up (200) and verify (200 when every payment matches, else 409 with the same body). The guard has
 * authenticated the caller. 400 with details, 404, 405 and 413 follow the table of answers. Verify ignores the content
 * type: a browser never adds an API key by itself.
 */
export function addLegacyRoutes(app: Hono<AppEnv>, { legacy }: Pick<Service, 'legacy'>): void {
  app.get(paths.legacyLookup, async (c) => {
    refuseBody(c.req.raw)
    const query = { chainId: c.req.param('chainId'), txHash: c.req.param('txHash') }
    return jsonAnswer(await legacy.lookup(query))
  })
  app.post(paths.legacyVerify, async (c) => {
    const flaw = encodingFlaw(c.req.raw.headers)
    if (flaw !== null) throw new LegacyRequestError([{ code: 'invalid_encoding', message: flaw, path: [] }])
    const { verified, result } = await legacy.verify(parseVerifyRequest(await readRequestBody(c.req.raw, maxBodyBytes)))
    return jsonAnswer(result, verified ? 200 : 409)
  })
  allowMethods(app, paths.legacyLookup, ['GET', 'HEAD'])
  allowMethods(app, paths.legacyVerify, ['POST'])
}
