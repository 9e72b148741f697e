/** The two endpoints of the legacy API. Source: docs/interface.md 4.3. @module */
import { paths } from '@payment-integration/contract'
import { LegacyRequestError, parseVerifyRequest, readRequestBody, type Service } from '@payment-integration/core'
import type { Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'
import { maxBodyBytes, refuseBody } from './request-parts.js'
import { encodingFlaw } from './require-json.js'

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
