/** How long requests take, by the pattern of their route: a path itself would name addresses and transactions. @module */
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { Histogram, type Registry } from 'prom-client'
import type { AppEnv } from '../app/app-env.js'
import { durationBuckets, prefix } from './names.js'

const methods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/**
 * Adds the metric to a registry.
 * @param now - A clock that never goes back, in milliseconds.
 * @returns A middleware that measures everything behind it.
 */
export function addRequestMetrics(registry: Registry, now: () => number): MiddlewareHandler<AppEnv> {
  const histogram = new Histogram({
    name: `${prefix}http_request_duration_seconds`,
    help: 'Time from a request to its answer. Requests that are no well-formed HTTP are not counted.',
    labelNames: ['method', 'route', 'status'],
    buckets: durationBuckets,
    registers: [registry],
  })
  // A child is found in a fraction of the time that the library needs to find it by its labels.
  const children = new Map<string, ReturnType<typeof histogram.labels>>()
  return async (c, next) => {
    const startedAt = now()
    await next()
    const seconds = (now() - startedAt) / 1_000
    const method = methods.has(c.req.method) ? c.req.method : 'other'
    // What everything passes is no route.
    const route = matchedRoutes(c).find(({ path }) => !path.includes('*'))?.path ?? 'none'
    const status = String(c.res.status)
    const key = `${method} ${status} ${route}`
    const child = children.get(key) ?? histogram.labels({ method, route, status })
    children.set(key, child)
    child.observe(seconds)
  }
}
