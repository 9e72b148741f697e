/**
 * Reads an answer by its schema, and tells what in it the schema does not name. An answer that fits takes a short way
 * through plain functions, made once from the schema; for one that does not, zod has the word. Source:
 * docs/interface.md 2; figures in `bench/README.md`, client.
 *
 * @module
 */
import type * as z from 'zod/mini'
import { compileCheck, type Note } from './internal/compile-check.js'
import type { UnknownPart } from './unknown-part.js'

/** What became of a value. */
export type ReadResult<T> =
  | { readonly success: true; readonly data: T; readonly unknownParts: readonly UnknownPart[] }
  | { readonly success: false; readonly error: z.core.$ZodError }

/** Reads values of one schema. */
export interface Reader<T> {
  /** Never throws. A value that fits comes back as it is; treat it as your own, because it is not copied. */
  safeParse(value: unknown): ReadResult<T>
}

/**
 * Makes a reader whose verdict is that of `schema.safeParse`. Make it once: it goes through the schema. Meant for the
 * schemas of this package that read, which change nothing in a value.
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
