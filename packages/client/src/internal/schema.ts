/** The part of a schema that reading needs. @module */
import type { UnknownPart } from '@payment-integration/contract'

/** What a body may have failed by. */
interface Failed {
  readonly success: false
  readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[] }[] }
}

/** Checks the body of a refusal. */
export interface RefusalSchema<T> {
  safeParse(value: unknown): { readonly success: true; readonly data: T } | Failed
}

/** Checks an answer, and tells what in it the contract does not name. */
export interface Schema<T> {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: T; readonly unknownParts: readonly UnknownPart[] } | Failed
}
