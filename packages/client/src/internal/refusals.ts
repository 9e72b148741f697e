/** Maps refusals of an endpoint to errors. @module */
import { errorBodySchema, notFoundBody } from '@payment-integration/contract'
import type { ClientError } from '../errors.js'
import type { RefusalSchema } from './schema.js'

/**
 * Maps the parsed body of a refusal, with the whole seconds of its `Retry-After`, to its error; null when the body is
 * not the service's own.
 */
export type Refusal = (body: unknown, retryAfterSeconds: number | null) => ClientError | null

/**
 * The refusals of an endpoint, by status. 401 and 429 mean the same for every endpoint and are absent. A status of 500
 * or more is present only where the endpoint has its own body for it; any other body keeps the general meaning.
 */
export type Refusals = Readonly<Record<number, Refusal>>

/** Accepts a refusal only with a body of the service: an error page of a proxy is no answer. */
export function refusalWithBody<T>(schema: RefusalSchema<T>, refuse: (body: T) => ClientError): Refusal {
  return (body) => {
    const parsed = schema.safeParse(body)
    return parsed.success ? refuse(parsed.data) : null
  }
}

/** Accepts a 404 for a missing record, not for an unknown path, as a wrong `baseUrl` would give. */
export function refusalOfMissing(refuse: () => ClientError): Refusal {
  return (body) => {
    const parsed = errorBodySchema.safeParse(body)
    return parsed.success && parsed.data.error !== notFoundBody.error ? refuse() : null
  }
}

/** Accepts a refusal only with this `error` text. Other fields of the body may vary. */
export function refusalWithText(error: string, refuse: (retryAfterSeconds: number | null) => ClientError): Refusal {
  return (body, retryAfterSeconds) => {
    const parsed = errorBodySchema.safeParse(body)
    return parsed.success && parsed.data.error === error ? refuse(retryAfterSeconds) : null
  }
}
