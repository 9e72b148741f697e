/** A header that is given twice is an attempt to be read in two ways. @module */
import type { Context, MiddlewareHandler } from 'hono'
import type { AppEnv } from './app-env.js'
import { HttpRequestError } from './http-errors.js'

/**
 * Whether a request carries a header more than once. Only Node's own message can say so; on another host the answer is false,
 * and the value is what that host makes of both.
 * @param name - In lower case.
 */
export function isRepeated({ env }: Context<AppEnv>, name: string): boolean {
  const raw = env?.incoming?.rawHeaders ?? []
  return raw.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length > 1
}

/** Refuses a request of two content types with 400. Add it after authentication, which comes before validation. */
export const refuseTwoContentTypes: MiddlewareHandler<AppEnv> = (c, next) => {
  if (isRepeated(c, 'content-type'))
    throw new HttpRequestError('ERR_HEADER_REPEATED', 'Header content-type is given more than once')
  return next()
}
