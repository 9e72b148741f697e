/** Detects a repeated header, which two parsers may read differently. @module */
import type { Context } from 'hono'
import type { AppEnv } from './app-env.js'
import { HttpRequestError } from './http-errors.js'

/**
 * Whether a request carries a header more than once. Only Node's own message shows that. On another host the answer is
 * false, and the host decides which value counts.
 *
 * @param name - In lower case.
 */
export function isRepeated({ env }: Context<AppEnv>, name: string): boolean {
  const raw = env?.incoming?.rawHeaders ?? []
  let count = 0
  for (let index = 0; index < raw.length; index += 2) {
    const each = raw[index]
    if (each?.length === name.length && each.toLowerCase() === name) count += 1
  }
  return count > 1
}

/**
 * Rejects a request with two content types. Call it after authentication.
 * @throws HttpRequestError `ERR_HEADER_REPEATED`.
 */
export function refuseTwoContentTypes(c: Context<AppEnv>): void {
  if (isRepeated(c, 'content-type'))
    throw new HttpRequestError('ERR_HEADER_REPEATED', 'Header content-type is given more than once')
}
