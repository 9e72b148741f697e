/** Enumerations that a newer service may extend. Source: docs/interface.md 9. @module */
import * as z from 'zod/mini'
import type { Mode } from './mode.js'

/** One of the known values, or any other text. Editors still offer the known ones, and a `switch` needs a `default`. */
export type OpenEnum<Value extends string> = Value | (string & Record<never, never>)

/** Known values first, then any text that `rest` accepts. {@link createReader} reports each unknown value. */
export function openEnum<Value extends string>(
  known: z.ZodMiniType<Value>,
  rest: z.ZodMiniType<string> = z.string(),
): z.ZodMiniType<OpenEnum<Value>> {
  // A union with `string` infers as `string` alone, without the known values.
  return z.union([known, rest]) as unknown as z.ZodMiniType<OpenEnum<Value>>
}

/** Writing allows the known values only; reading allows any. */
export type EnumOf<M extends Mode, Value extends string> = M extends 'write' ? Value : OpenEnum<Value>
