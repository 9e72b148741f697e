/** The part of a schema that parsing needs. @module */
import type { UnknownPart } from '@payment-integration/contract'

/** A failed check, with the paths of the flaws. */
interface Failed {
  readonly success: false
  readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[] }[] }
}

/** Checks the body of a refusal. */
export interface RefusalSchema<T> {
  safeParse(value: unknown): { readonly success: true; readonly data: T } | Failed
}

/** Checks an answer and returns its unknown fields and values. */
export interface Schema<T> {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: T; readonly unknownParts: readonly UnknownPart[] } | Failed
}
