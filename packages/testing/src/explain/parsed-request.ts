/** A request in any form, as headers and bytes. @module */
import type { HeaderPair } from './read-headers.js'
import type { RequestForm } from './request-error.js'

/** A request as it was pasted. */
export interface ParsedRequest {
  readonly form: RequestForm
  readonly headers: readonly HeaderPair[]
  readonly body: Uint8Array<ArrayBuffer>
  /** When the request was recorded: milliseconds since the epoch. Null when the form does not say. */
  readonly recordedAt: number | null
  /** Doubts about the bytes, as sentences that quote nothing. */
  readonly warnings: readonly string[]
}
