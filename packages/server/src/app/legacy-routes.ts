/** The two endpoints of the legacy API. Source: INTERFACE 4.3. @module */
import { paths } from '@payment-integration/contract'
import { parseVerifyRequest, type Service } from '@payment-integration/core'
import type { Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'
import { readBody, refuseBody } from './read-body.js'
import { requireJson } from './require-json.js'

/**
 * Adds look-up (200) and verify (200 when every payment matches, else 409 with the same body). Authentication has happened before.
 * 400 with details, 404, 405, 413, 415 as in the table of answers.
 */
export function addLegacyRoutes(app: Hono<AppEnv>, { legacy }: Pick<Service, 'legacy'>): void {
  app.get(paths.legacyLookup, async (c) => {
    refuseBody(c.req.raw)
    const query = { chainId: c.req.param('chainId'), txHash: c.req.param('txHash') }
    return jsonAnswer(await legacy.lookup(query))
  })
  app.post(paths.legacyVerify, async (c) => {
    requireJson(c.req.raw.headers)
    const { verified, result } = await legacy.verify(parseVerifyRequest(await readBody(c.req.raw)))
    return jsonAnswer(result, verified ? 200 : 409)
  })
  allowMethods(app, paths.legacyLookup, ['GET', 'HEAD'])
  allowMethods(app, paths.legacyVerify, ['POST'])
}
