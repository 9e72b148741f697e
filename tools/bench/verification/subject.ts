/** Types of the measured verifiers. @module */

/** A genuine delivery, or a kind that forgers send. */
export type Kind = 'genuine' | 'forged' | 'stale' | 'malformed'

/** A verifier. */
export interface Subject {
  readonly name: string
  /**
   * A call that resolves for a genuine delivery and throws for the others; null where the scheme has no such delivery.
   */
  prepare(body: Buffer, kind: Kind): (() => unknown) | null
}
