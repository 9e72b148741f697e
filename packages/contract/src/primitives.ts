/** Strings with a fixed shape that several wire objects share. Source: docs/interface.md 2, general rules. @module */
import * as z from 'zod/mini'

/** A 20-byte hex address, lowercased. */
export const address = z.string().check(z.regex(/^0x[0-9a-f]{40}$/, 'expected 0x and 40 lowercase hex digits'))

/** A 32-byte hex transaction hash, lowercased. */
export const txHash = z.string().check(z.regex(/^0x[0-9a-f]{64}$/, 'expected 0x and 64 lowercase hex digits'))

/** A chain id: a decimal string without leading zeros. At most 15 digits, so a number holds it exactly. */
export const chainId = z.string().check(z.regex(/^[1-9][0-9]{0,14}$/, 'expected a chain id as a decimal string'))

/** An amount: a decimal string, never a float. Source: docs/interface.md 2.3, last line. */
export const amount = z
  .string()
  .check(z.regex(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/, 'expected a decimal string such as "12.50"'))

/**
 * A currency code: three capital letters as in ISO 4217. It need not be assigned, because amendments change the list.
 * Source: docs/interface.md 2.3.
 */
export const currency = z.string().check(z.regex(/^[A-Z]{3}$/, 'expected a three-letter currency code such as "EUR"'))

/** A payment's state version: 1, 2, 3, … */
export const version = z.int().check(z.positive())

/** An instant: ISO 8601 in UTC with milliseconds. */
export const instant = z.iso.datetime()
