/** Chain ids on the command line. @module */
import { InvalidArgumentError } from 'commander'

/**
 * Reads a chain id in plain digits, without zeros before it.
 * @throws InvalidArgumentError With the sentence `expected` when it is anything else.
 */
export function parseChainId(text: string, expected: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError(expected)
  return Number(text)
}
