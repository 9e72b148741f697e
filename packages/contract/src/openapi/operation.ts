/** Puts together an operation: what endpoints share is said once. @module */
import { responseRef } from './references.js'
import type { SharedResponse } from './responses.js'
import type { Operation, Reference, Response } from './types.js'

/** What a request can get wherever it goes: HTTP itself refuses it. */
const byHttp = { 400: 'InvalidRequest', 408: 'RequestTimeout', 431: 'HeadersTooLarge' } as const
/** What an endpoint can answer that asks the database. */
const byDatabase = { 500: 'InternalError', 503: 'Unavailable' } as const

/** An operation with its own answers; a text names a shared one. */
export type OperationParts = Omit<Operation, 'responses'> & {
  readonly responses: Readonly<Record<string, Response | SharedResponse>>
  /** Whether it asks the database, and can fail with it. @default true */
  readonly usesDatabase?: boolean
}

/** Adds the answers that every endpoint has; its own come first. */
export function operation({ responses, usesDatabase = true, ...parts }: OperationParts): Operation {
  const all = { ...byHttp, ...(usesDatabase ? byDatabase : {}), ...responses }
  return {
    ...parts,
    responses: Object.fromEntries(Object.entries(all).map(([status, each]) => [status, resolved(each)])),
  }
}

function resolved(response: Response | SharedResponse): Response | Reference {
  return typeof response === 'string' ? responseRef(response) : response
}
