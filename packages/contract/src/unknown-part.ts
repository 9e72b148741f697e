/** A part of an answer that the contract does not name. Source: docs/interface.md 9. @module */

/** An unknown field or value of an answer: the service is newer than this package. */
export interface UnknownPart {
  /** `field`: an object has one more. `value`: a text is none of the known values, as an unknown state. */
  readonly kind: 'field' | 'value'
  /** From the top of the answer; `*` stands for a place in a list, and the last part is the field itself. */
  readonly path: readonly string[]
  /** The unknown value; null for a field. */
  readonly value: string | null
}
