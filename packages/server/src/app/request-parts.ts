/** The parts of a request that are read before its route runs. Source: docs/interface.md 5. @module */
import type { Context } from 'hono'
import type { AppEnv } from './app-env.js'
import { HttpRequestError } from './http-errors.js'
import { isRepeated } from './repeated-header.js'

/** Largest body of a JSON route, in bytes. */
export const maxBodyBytes = 16 * 1024

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

/**
 * Rejects a body on a request that takes none. Source: RFC 9112 section 6.
 * @throws HttpRequestError `ERR_BODY_UNEXPECTED`.
 */
export function refuseBody({ headers }: Request): void {
  if (headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0')
    throw new HttpRequestError('ERR_BODY_UNEXPECTED', 'This request takes no body; send none')
}
