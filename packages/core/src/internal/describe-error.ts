/** Formats an error in one line, for logs, statuses and events. @module */
import { CoreError } from '../errors.js'

/**
 * The code and message of an error of the core. Any other error gives its class and code alone, because its message may
 * contain values, addresses or credentials.
 */
export function describeError(error: unknown): string {
  if (error instanceof CoreError) return `${error.code}: ${error.message}`
  if (!(error instanceof Error)) return `a ${typeof error} was thrown`
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[A-Za-z0-9_]{1,40}$/.test(code) ? `${error.name} ${code}` : error.name
}
