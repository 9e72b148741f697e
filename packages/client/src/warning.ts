/** The warning about an unknown part of an answer. @module */

/** A field or value that this version does not know. The client returns the answer unchanged. */
export interface ClientWarning {
  /** `unknown_field`: a field outside the contract. `unknown_value`: an unknown text, such as a new payment state. */
  readonly kind: 'unknown_field' | 'unknown_value'
  /**
   * The path, such as `payments.*.state`; `*` stands for an index. A name with other characters than letters, digits,
   * `_` and `-` is quoted as in JSON.
   */
  readonly path: string
  /** The first 64 characters of the unknown text; null for a field. `[hidden]` replaces a secret. */
  readonly value: string | null
  /** The same as a sentence for a log: always one line of printable ASCII. */
  readonly message: string
}
