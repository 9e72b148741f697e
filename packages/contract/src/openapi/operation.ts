/** Builds an operation from its own answers and the shared ones. @module */
import { responseRef } from './references.js'
import type { SharedResponse } from './responses.js'
import type { Operation, Reference, Response } from './types.js'

/** Answers of HTTP itself, possible at every endpoint. */
const byHttp = { 400: 'InvalidRequest', 408: 'RequestTimeout', 431: 'HeadersTooLarge' } as const
/** Further answers of every endpoint except a probe: a limit is reached, or the database fails. */
const byService = { 429: 'TooManyRequests', 500: 'InternalError', 503: 'Unavailable' } as const

/** An operation with its own answers; a text names a shared one. */
export type OperationParts = Omit<Operation, 'responses'> & {
  readonly responses: Readonly<Record<string, Response | SharedResponse>>
  /** Whether it is a probe of load balancers, which has no rate limit and no database errors. @default false */
  readonly isProbe?: boolean
}

/** Adds the answers that every endpoint has; its own come first. */
export function operation({ responses, isProbe = false, ...parts }: OperationParts): Operation {
  const all = { ...byHttp, ...(isProbe ? {} : byService), ...responses }
  return {
    ...parts,
    responses: Object.fromEntries(Object.entries(all).map(([status, each]) => [status, resolved(each)])),
  }
}

function resolved(response: Response | SharedResponse): Response | Reference {
  return typeof response === 'string' ? responseRef(response) : response
}
