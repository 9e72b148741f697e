/** An unknown field or value of an answer. Source: docs/interface.md 9. @module */

/** An unknown field or value: the service is newer than this package. */
export interface UnknownPart {
  /** `field`: a field outside the contract. `value`: an unknown text, such as a new state. */
  readonly kind: 'field' | 'value'
  /** The path from the top of the answer; `*` stands for an index, and the last part is the field itself. */
  readonly path: readonly string[]
  /** The unknown value; null for a field. */
  readonly value: string | null
}
