/** The endpoints of the read API, of identity sharing, and of the legacy API. Source: docs/interface.md 4. @module */
import { paths } from '@payment-integration/contract'
import { sharingDisabledBody } from '@payment-integration/contract/internal'
import type { IntegrationQueries, Service } from '@payment-integration/core'
import { InvalidLegacyRequestError, parseVerifyRequest } from '@payment-integration/core'
import { InvalidShareRequestError, parseShareRequest } from '@payment-integration/core/identity'
import { readRequestBody } from '@payment-integration/core/internal'
import type { Context, Hono } from 'hono'
import { isTokenTooLong } from '../identity/limited-provider.js'
import { addEndpoint, answerPrivateJson } from './answers.js'
import type { AppEnv } from './requests.js'
import { findContentTypeFlaw, findEncodingFlaw, maxBodyBytes, parseListQuery, rejectBody } from './requests.js'

/** The part of the queries that the read API uses. */
export interface ReadQueries {
  forIntegration(integrationAddress: string): Pick<IntegrationQueries, 'listPayments' | 'getPayment'>
}

/** Adds the read API. The guard has authenticated the request and set `caller`. */
export function addPaymentRoutes(app: Hono<AppEnv>, { queries }: { readonly queries: ReadQueries }): void {
  const scope = (c: Context<AppEnv>) => {
    rejectBody(c.req.raw)
    return queries.forIntegration(c.get('caller').integrationAddress)
  }
  addEndpoint(app, 'get', paths.payments, async (c) =>
    answerPrivateJson(await scope(c).listPayments(parseListQuery(c.req.raw.url))),
  )
  addEndpoint(app, 'get', paths.payment, async (c) =>
    answerPrivateJson(await scope(c).getPayment({ txHash: c.req.param('txHash') })),
  )
  addEndpoint(app, 'get', paths.walletPayments, async (c) => {
    const wallet = c.req.param('address')
    return answerPrivateJson(await scope(c).listPayments({ ...parseListQuery(c.req.raw.url), wallet }))
  })
  addEndpoint(app, 'get', paths.walletPayment, async (c) => {
    const { address: wallet, txHash } = c.req.param()
    return answerPrivateJson(await scope(c).getPayment({ txHash, wallet }))
  })
}

/**
 * Adds look-up (200) and verify (200 when every payment matches, else 409 with the same body). The guard has
 * authenticated the caller. Errors are 400 with details, 404, 405 and 413. Verify accepts any content type: a browser
 * adds no API key to the form of another site.
 */
export function addLegacyRoutes(app: Hono<AppEnv>, { legacy }: Pick<Service, 'legacy'>): void {
  addEndpoint(app, 'get', paths.legacyLookup, async (c) => {
    rejectBody(c.req.raw)
    return answerPrivateJson(await legacy.lookup({ chainId: c.req.param('chainId'), txHash: c.req.param('txHash') }))
  })
  addEndpoint(app, 'post', paths.legacyVerify, async (c) => {
    const flaw = findEncodingFlaw(c.req.raw.headers)
    if (flaw !== null) throw new InvalidLegacyRequestError([{ code: 'invalid_encoding', message: flaw, path: [] }])
    const { verified, result } = await legacy.verify(parseVerifyRequest(await readRequestBody(c.req.raw, maxBodyBytes)))
    return answerPrivateJson(result, verified ? 200 : 409)
  })
}

/**
 * Adds `POST /api/v1/integration/idv-share-token` for authenticated callers. Checked in this order: 404 where sharing
 * is off, 400 for the content type, 413 and 400 for the body, then the use case. A token that passes, but is too
 * long for the provider, is 400, too.
 */
export function addShareRoute(app: Hono<AppEnv>, { identity }: Pick<Service, 'identity'>): void {
  addEndpoint(app, 'post', paths.shareToken, async (c) => {
    if (identity === null) return answerPrivateJson(sharingDisabledBody, 404)
    // A browser adds Basic credentials to another site's form, but cannot send this content type.
    const flaw = findContentTypeFlaw(c.req.raw.headers)
    if (flaw !== null) throw new InvalidShareRequestError(flaw)
    const { email, shareToken } = parseShareRequest(await readRequestBody(c.req.raw, maxBodyBytes))
    const { integrationAddress } = c.get('caller')
    try {
      return answerPrivateJson(await identity.share({ integrationAddress, email, shareToken }))
    } catch (error) {
      throw isTokenTooLong(error)
        ? new InvalidShareRequestError('kycShareToken is longer than the identity provider takes')
        : error
    }
  })
}
