/** Chooses the id of a request. Source: docs/observability.md. @module */
import { randomUUID } from 'node:crypto'

/** Header of the id, in requests and answers. */
export const requestIdHeader = 'X-Request-Id'

/** The caller's id where it is 1 to 128 visible ASCII characters, else a new UUID. A repeated header has a space. */
export function requestIdOf(given: string | null | undefined): string {
  return given && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID()
}
