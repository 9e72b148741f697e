/** Shares an identity verification. Source: docs/interface.md 4.2, 7. @module */
import { paths } from '@payment-integration/contract'
import { sharingDisabledBody } from '@payment-integration/contract/internal'
import type { Service } from '@payment-integration/core'
import { parseShareRequest, ShareRequestError } from '@payment-integration/core/identity'
import { readRequestBody } from '@payment-integration/core/internal'
import type { Hono } from 'hono'
import { isTooLong } from '../identity/sumsub-provider.js'
import type { AppEnv } from './requests.js'
import { allowMethods, contentTypeFlaw, jsonAnswer, maxBodyBytes } from './requests.js'

/**
 * Adds `POST /api/v1/integration/idv-share-token` for authenticated callers. Checked in this order: 404 where sharing
 * is off, 400 for the content type, 413 and 400 for the body, then the use case. A token that only the provider finds
 * too long is 400, too.
 */
export function addShareRoute(app: Hono<AppEnv>, { identity }: Pick<Service, 'identity'>): void {
  app.post(paths.shareToken, async (c) => {
    if (identity === null) return jsonAnswer(sharingDisabledBody, 404)
    // A browser adds Basic credentials to another site's form, but cannot send this content type.
    const flaw = contentTypeFlaw(c.req.raw.headers)
    if (flaw !== null) throw new ShareRequestError(flaw)
    const { email, shareToken } = parseShareRequest(await readRequestBody(c.req.raw, maxBodyBytes))
    const { integrationAddress } = c.get('caller')
    try {
      return jsonAnswer(await identity.share({ integrationAddress, email, shareToken }))
    } catch (error) {
      throw isTooLong(error) ? new ShareRequestError('kycShareToken is longer than the identity provider takes') : error
    }
  })
  allowMethods(app, paths.shareToken, ['POST'])
}
