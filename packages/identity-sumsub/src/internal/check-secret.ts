/** Rejects blank credentials. @module */

/**
 * Checks a configured credential.
 * @throws TypeError When it is not a string, is blank, or has white space around it. The message does not repeat it.
 */
export function checkCredential(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw new TypeError(`${name} is missing or blank; is its environment variable set?`)
  if (value.trim() !== value) throw new TypeError(`${name} has white space around it; trim it where it is read.`)
  return value
}
