/**
 * Checks an answer by its schema, and returns its unknown fields and values. Source: docs/interface.md 2.
 *
 * Valid answers pass through plain functions that are compiled once from the schema. zod checks only the others.
 * Figures: `tools/bench/results/retired.json`.
 * @module
 */
import type * as z from 'zod/mini'
import { compileCheck, type Note } from './internal/compile-check.js'
import type { UnknownPart } from './unknown-part.js'

/** The result of a check. */
export type ReadResult<T> =
  | { readonly success: true; readonly data: T; readonly unknownParts: readonly UnknownPart[] }
  | { readonly success: false; readonly error: z.core.$ZodError }

/** Checks values by one schema. */
export interface Reader<T> {
  /** Never throws. Returns a valid value itself, not a copy. */
  safeParse(value: unknown): ReadResult<T>
}

/**
 * Makes a reader with the results of `schema.safeParse`. Make it once: it compiles the schema. Meant for the reading
 * schemas of this package, which transform no value.
 * @example
 * const read = createReader(pageSchema).safeParse(JSON.parse(text))
 * if (read.success) for (const { kind, path } of read.unknownParts) console.warn(kind, path.join('.'))
 */
export function createReader<T>(schema: z.ZodMiniType<T>): Reader<T> {
  const fits = compileCheck(schema)
  return {
    safeParse(value) {
      const unknownParts: Note[] = []
      if (fits(value, unknownParts)) return { success: true, data: value as T, unknownParts }
      const parsed = schema.safeParse(value)
      return parsed.success ? { ...parsed, unknownParts } : parsed
    },
  }
}
