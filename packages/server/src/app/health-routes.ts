/** `GET /health` and `GET /health/live`. @module */
import type { Hono } from 'hono'
import { shareAnswer, sharedMs } from '../internal/share-answer.js'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import type { HealthReport } from './health.js'
import { jsonAnswer } from './json-answer.js'

/** The two paths. Load balancers call them, so no rate limit applies, and an answer costs no more than a 429. */
export const healthPaths = ['/health', '/health/live'] as const

/**
 * Adds the health routes: 200 while requests can be served, 503 otherwise. `live` says only that the process answers.
 * Health is computed at most once a second, and once at a time.
 * @param now - A clock that never goes back, in milliseconds.
 */
export function addHealthRoutes(app: Hono<AppEnv>, health: () => Promise<HealthReport>, now: () => number): void {
  const report = shareAnswer(health, { forMs: sharedMs, now })
  const [whole, live] = healthPaths
  app.get(whole, async () => {
    const found = await report()
    return jsonAnswer(found, found.status === 'down' ? 503 : 200)
  })
  app.get(live, () => jsonAnswer({ status: 'ok' }))
  for (const path of healthPaths) allowMethods(app, path, ['GET', 'HEAD'])
}
