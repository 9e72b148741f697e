/** What an answer holds beyond the contract. @module */

/** A field or a word of an answer that this contract does not name: the service is newer. */
export interface Stranger {
  /** `field`: an object has one more. `word`: a text is none of the known words, as an unknown state. */
  readonly kind: 'field' | 'word'
  /** From the top of the answer; `*` stands for a place in a list, and the last part is the field itself. */
  readonly path: readonly string[]
  /** The unknown word; null for a field. */
  readonly word: string | null
}
