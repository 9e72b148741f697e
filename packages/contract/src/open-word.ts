/** Words that a newer service may add to. Source: INTERFACE 9 (no policy is shown, so a reader is built for the day a word is added). @module */
import * as z from 'zod/mini'
import type { Mode } from './mode.js'

/** One of the known words, or any other text: an editor still offers the known ones, and a `switch` needs a `default`. */
export type OpenWord<Word extends string> = Word | (string & Record<never, never>)

/** Known words first, then any text that `rest` takes. {@link createReader} tells a reader which of the two a word was. */
export function openWord<Word extends string>(
  known: z.ZodMiniType<Word>,
  rest: z.ZodMiniType<string> = z.string(),
): z.ZodMiniType<OpenWord<Word>> {
  // The type of a union with `string` is `string` alone, which would forget the known words.
  return z.union([known, rest]) as unknown as z.ZodMiniType<OpenWord<Word>>
}

/** What a word may be in a mode: writing is held to the known words, reading is not. */
export type WordOf<M extends Mode, Word extends string> = M extends 'write' ? Word : OpenWord<Word>
