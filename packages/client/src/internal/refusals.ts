/** How an endpoint says no. @module */
import { errorBodySchema, notFoundBody } from '@payment-integration/contract'
import type { ClientError } from '../errors.js'
import type { Schema } from './schema.js'

/** From the parsed body of a refusal to its error; null when the body is not in the service's own words. */
export type Refusal = (body: unknown) => ClientError | null

/** The refusals of an endpoint, by status. 401, 429 and every status of 500 or more mean the same everywhere and are not listed. */
export type Refusals = Readonly<Record<number, Refusal>>

/** Believes a refusal only in the service's own words: an error page of a proxy is no answer. */
export function believe<T>(schema: Schema<T>, refuse: (body: T) => ClientError): Refusal {
  return (body) => {
    const parsed = schema.safeParse(body)
    return parsed.success ? refuse(parsed.data) : null
  }
}

/** Believes a 404 when it is about the thing that was looked up, and not about a path that the service does not have: with a wrong `baseUrl`, nothing would ever seem to be there. */
export function believeMissing(refuse: () => ClientError): Refusal {
  return (body) => {
    const parsed = errorBodySchema.safeParse(body)
    return parsed.success && parsed.data.error !== notFoundBody.error ? refuse() : null
  }
}
