/** Checks of arguments, as every adapter of the Store port makes them. @module */

/** @throws RangeError When the value is no whole number of at least `least`. */
export function checkInteger(value: number, what: string, least = 0): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new RangeError(`${what} is ${value}; pass a whole number, ${least} or more.`)
}

/** @throws RangeError When a time that is given is no whole millisecond. */
export function checkTimes(times: Readonly<Record<string, number | null | undefined>>): void {
  for (const [name, value] of Object.entries(times)) if (typeof value === 'number') checkInteger(value, name)
}
