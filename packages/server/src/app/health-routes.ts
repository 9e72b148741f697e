/** `GET /health` and `GET /health/live`. @module */
import type { Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import type { HealthReport } from './health.js'
import { jsonAnswer } from './json-answer.js'

/** Adds the health routes: 200 while requests can be served, 503 when they cannot; `live` says only that the process answers. */
export function addHealthRoutes(app: Hono<AppEnv>, health: () => Promise<HealthReport>): void {
  app.get('/health', async () => {
    const report = await health()
    return jsonAnswer(report, report.status === 'down' ? 503 : 200)
  })
  app.get('/health/live', () => jsonAnswer({ status: 'ok' }))
  for (const path of ['/health', '/health/live']) allowMethods(app, path, ['GET', 'HEAD'])
}
