/** Whole numbers on the command line. @module */
import { InvalidArgumentError } from 'commander'

/**
 * A parser of decimal whole numbers between `min` and `max`, both included.
 * The parser throws InvalidArgumentError for anything else, for example `1.5`, `1e3` or an empty text.
 */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`)
    return value
  }
}
