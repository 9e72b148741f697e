/** Refuses what would sign with nothing. @module */

/**
 * Checks a credential where it is configured.
 * @throws TypeError When it is no string, empty, blank, or has white space around it. The message does not hold it.
 */
export function checkCredential(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw new TypeError(`${name} is missing or blank; is its environment variable set?`)
  if (value.trim() !== value) throw new TypeError(`${name} has white space around it; trim it where it is read.`)
  return value
}
