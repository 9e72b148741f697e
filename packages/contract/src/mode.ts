/**
 * Builds object schemas, closed for writing and open for reading, and enumerations that a newer service may extend.
 * @module
 */
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
  // Both return the same class. They differ only in unknown keys, which the wire type does not show.
  const schema = mode === 'write' ? z.strictObject(shape) : z.looseObject(shape)
  return schema as unknown as z.ZodMiniObject<Shape, z.core.$strip>
}

/** A known value or any other text. Editors still suggest the known ones; a `switch` needs a `default`. */
export type OpenEnum<Value extends string> = Value | (string & Record<never, never>)

/** Accepts known values and any text that `rest` accepts. {@link createReader} returns each unknown value. */
export function openEnum<Value extends string>(
  known: z.ZodMiniType<Value>,
  rest: z.ZodMiniType<string> = z.string(),
): z.ZodMiniType<OpenEnum<Value>> {
  // A union with `string` infers as `string` alone, without the known values.
  return z.union([known, rest]) as unknown as z.ZodMiniType<OpenEnum<Value>>
}

/** Writing allows only known values; reading allows any. */
export type EnumOf<M extends Mode, Value extends string> = M extends 'write' ? Value : OpenEnum<Value>
