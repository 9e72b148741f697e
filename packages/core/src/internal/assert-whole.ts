/** Checks numeric options. @module */

/** @throws RangeError When `value` is not a whole number of at least `least`. */
export function assertWhole(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new RangeError(`${name} is ${value}; pass a whole number, ${least} or more.`)
}
