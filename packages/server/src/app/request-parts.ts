/** The parts of a request that authentication reads first. Source: docs/interface.md 5. @module */
import type { Context } from 'hono'
import type { AppEnv } from './app-env.js'
import { isRepeated } from './repeated-header.js'

/** The raw path: nothing decoded, nothing resolved. */
export function rawPath(c: Context<AppEnv>): string {
  const { url } = c.req.raw
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.slice(start).search(/[?#]/)
  return end < 0 ? url.slice(start) : url.slice(start, start + end)
}

/** The `Authorization` header; null when missing or repeated, so that no proxy can choose another one than we do. */
export function authorization(c: Context<AppEnv>): string | null {
  return isRepeated(c, 'authorization') ? null : (c.req.header('authorization') ?? null)
}
