/** Enumerations that a newer service may extend. Source: docs/interface.md 9. @module */
import * as z from 'zod/mini'
import type { Mode } from './mode.js'

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
