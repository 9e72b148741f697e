/** `GET /metrics` for Prometheus: on the API's port it always needs a token. @module */
import { createHash, timingSafeEqual } from 'node:crypto'
import { cacheControl, unauthorizedBody } from '@payment-integration/contract'
import type { Hono } from 'hono'
import { shareAnswer, sharedMs } from '../internal/share-answer.js'
import type { Metrics } from '../metrics/metrics.js'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { bearerChallenge } from './authenticate-legacy.js'
import { jsonAnswer } from './json-answer.js'
import { authorization } from './request-parts.js'

/** The metrics to serve, and the token that protects them. */
export interface MetricsRouteOptions {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
  /** Required as `Authorization: Bearer <token>`; null: no credentials are required. */
  readonly token: string | null
  /** A clock that never goes back, in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined
}

/**
 * Adds the route. Metrics are computed at most once a second, and once at a time. Every 401 has the bytes of the other
 * APIs' 401.
 */
export function addMetricsRoute(app: Hono<AppEnv>, { metrics, token, now }: MetricsRouteOptions): void {
  const isOpenedBy = token === null ? () => true : bearerCheck(token)
  const text = shareAnswer(() => metrics.text(), { forMs: sharedMs, now: now ?? (() => performance.now()) })
  app.get('/metrics', async (c) => {
    if (!isOpenedBy(authorization(c))) return jsonAnswer(unauthorizedBody, 401, { 'WWW-Authenticate': bearerChallenge })
    const headers = { 'Content-Type': metrics.contentType, 'Cache-Control': cacheControl }
    return new Response(await text(), { headers })
  })
  allowMethods(app, '/metrics', ['GET', 'HEAD'])
}

/** Compares hashes of equal length in constant time. */
export function bearerCheck(token: string): (header: string | null) => boolean {
  const hashOf = (text: string) => createHash('sha256').update(text).digest()
  const expected = hashOf(token)
  return (header) => {
    const given = /^bearer ([\x21-\x7e]{1,512})$/i.exec(header ?? '')?.[1] ?? ''
    return timingSafeEqual(hashOf(given), expected)
  }
}
