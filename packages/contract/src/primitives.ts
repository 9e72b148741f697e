/** Builds the parts that several wire objects share. Source: docs/interface.md 2, general rules. @module */
import * as z from 'zod/mini'

/**
 * The treatment of unknown fields. `write` rejects them, so that no internal field leaks into an answer. `read` accepts
 * them, so that a newer service breaks no client.
 */
export type Mode = 'read' | 'write'

/** Builds an object schema in the given mode. Nested objects take the mode from their own builder. */
export function object<Shape extends z.core.$ZodShape>(
  mode: Mode,
  shape: Shape,
): z.ZodMiniObject<Shape, z.core.$strip> {
  // Both return the same class. They differ only in how they treat unknown keys, which the wire type does not show.
  const schema = mode === 'write' ? z.strictObject(shape) : z.looseObject(shape)
  return schema as unknown as z.ZodMiniObject<Shape, z.core.$strip>
}

/** A known value or any other text. Editors still suggest the known ones; a `switch` needs a `default`. */
export type OpenEnum<Value extends string> = Value | (string & Record<never, never>)

/** Accepts known values, and texts that `otherValue` accepts. {@link createSchemaReader} returns each unknown value. */
export function openEnum<Value extends string>(
  knownValue: z.ZodMiniType<Value>,
  otherValue: z.ZodMiniType<string> = z.string(),
): z.ZodMiniType<OpenEnum<Value>> {
  // A union with `string` infers as `string` alone, without the known values.
  return z.union([knownValue, otherValue]) as unknown as z.ZodMiniType<OpenEnum<Value>>
}

/** A 20-byte hex address. */
export const lowercaseAddress = z.string().check(z.regex(/^0x[0-9a-f]{40}$/, 'expected 0x and 40 lowercase hex digits'))

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

/** An instant: ISO 8601 in UTC. */
export const instant = z.iso.datetime()
