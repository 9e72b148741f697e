/** What a client says about an answer that it takes. @module */

/** A part of an answer that this version does not know. The answer is passed on as it is. */
export interface ClientWarning {
  /** `unknown_field`: an object has one more field. `unknown_value`: a text is none of the known ones, as a new payment state. */
  readonly kind: 'unknown_field' | 'unknown_value'
  /** Where, such as `payments.*.state`; `*` stands for a place in a list. A name of other characters than letters, digits, `_` and `-` is in quotes, as in JSON. */
  readonly path: string
  /** The unknown text as it is, up to 64 characters of it; null for a field. Never a secret: `[hidden]` stands for one. */
  readonly value: string | null
  /** The same in a sentence, for a log: one line of printable ASCII, whatever the answer holds. */
  readonly message: string
}
