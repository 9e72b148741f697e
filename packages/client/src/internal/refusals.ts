/** How an endpoint says no. @module */
import { errorBodySchema, notFoundBody } from '@payment-integration/contract'
import type { ClientError } from '../errors.js'
import type { RefusalSchema } from './schema.js'

/** Seconds that `Retry-After` asks for, or null; reads the clock. */
export type RetryAfter = () => number | null

/** From the parsed body of a refusal to its error; null when the body is not in the service's own words. */
export type Refusal = (body: unknown, retryAfter: RetryAfter) => ClientError | null

/**
 * The refusals of an endpoint, by status. 401 and 429 mean the same everywhere and are not listed. A status of 500 or more is listed where
 * the endpoint has words of its own for it; in other words it means the same as everywhere.
 */
export type Refusals = Readonly<Record<number, Refusal>>

/** Believes a refusal only in the service's own words: an error page of a proxy is no answer. */
export function believe<T>(schema: RefusalSchema<T>, refuse: (body: T) => ClientError): Refusal {
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

/** Believes a refusal in these words alone, whatever else the body has. */
export function believeText(error: string, refuse: (retryAfter: RetryAfter) => ClientError): Refusal {
  return (body, retryAfter) => {
    const parsed = errorBodySchema.safeParse(body)
    return parsed.success && parsed.data.error === error ? refuse(retryAfter) : null
  }
}
