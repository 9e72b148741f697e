/** `GET /metrics`: for Prometheus. @module */
import { cacheControl } from '@payment-integration/contract'
import type { Hono } from 'hono'
import type { Metrics } from '../metrics/metrics.js'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'

/** Adds the route. It needs no authentication: it says nothing about any integration. */
export function addMetricsRoute(app: Hono<AppEnv>, metrics: Pick<Metrics, 'text' | 'contentType'>): void {
  app.get('/metrics', async () => {
    const headers = { 'Content-Type': metrics.contentType, 'Cache-Control': cacheControl }
    return new Response(await metrics.text(), { headers })
  })
  allowMethods(app, '/metrics', ['GET', 'HEAD'])
}
