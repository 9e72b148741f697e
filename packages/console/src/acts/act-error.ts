/** The errors of acts, and what people read of them. @module */
import { CoreError, StoreError } from '@payment-integration/core'
import { FilterError } from '../filters.js'

/** An act that cannot be done now; the message is for people. Answer 409. */
export class ActError extends Error {
  override readonly name = 'ActError'
  readonly code = 'ERR_CONSOLE_ACT'
}

/** The message of an error that people may read; null for others, which may hold addresses of a database or a node. */
export function shownMessage(error: unknown): string | null {
  const isCore = error instanceof CoreError && !(error instanceof StoreError)
  return isCore || error instanceof FilterError || error instanceof ActError ? error.message : null
}
