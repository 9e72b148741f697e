/** Checks arguments before any work starts. @module */

/**
 * Parses an id of this store.
 * @throws TypeError When it is malformed.
 */
export function parseId(id: string, what: string): number {
  if (/^[0-9]{1,15}$/.test(id)) return Number(id)
  throw new TypeError(`${what} is ${JSON.stringify(id)}; pass an id that this store returned.`)
}

/**
 * Checks a whole number.
 * @throws RangeError When it is not whole or out of bounds.
 */
export function checkInteger(value: number, what: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw new RangeError(`${what} is ${value}; pass a whole number from ${least} to ${most}.`)
}
