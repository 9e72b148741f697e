/** Parses times of the provider. @module */
import { parseInstant } from '@payment-integration/contract/parse'
import { text } from './json.js'

/**
 * Unix milliseconds of a time such as `2020-02-21 13:23:19.001`, in UTC with or without an offset of zero; null for
 * anything else.
 */
export function parseTime(value: unknown): number | null {
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)(?:Z|\+00:?00)?$/.exec(text(value) ?? '')
  return match === null ? null : parseInstant(`${match[1]}T${match[2]}Z`)
}
