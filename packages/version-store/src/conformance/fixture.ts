/** What the suite needs of an adapter, and small helpers of its tests. @module */
import type { VersionDecision } from '../decide-version.js'
import type { VersionedPayment, VersionStore } from '../version-store.js'

/** A store under test, and a look at its database past the store. */
export interface ConformanceFixture<Tx> {
  /** Empty. */
  readonly store: VersionStore<Tx>
  /** Writes a note through the transaction of an effect. */
  write(tx: Tx, note: string): void | Promise<void>
  /** The notes that are kept, in the order in which they were written; read outside of any effect. */
  notes(): Promise<readonly string[]>
  /** Ends the database. */
  close?(): Promise<void> | void
}

/** One test of the suite. */
export interface Case<Tx> {
  readonly name: string
  readonly run: (fixture: ConformanceFixture<Tx>) => Promise<void>
}

/** A payment at a version; `payment` numbers its transaction hash. */
export function at(version: number, payment = 1): VersionedPayment {
  return {
    integrationAddress: `0x${'a1'.repeat(20)}`,
    chainId: '8453',
    txHash: `0x${payment.toString(16).padStart(64, '0')}`,
    version,
  }
}

/** The note that an effect of the suite leaves. */
export function noteOf({ txHash, version }: VersionedPayment): string {
  return `${BigInt(txHash)}/${version}`
}

/** Advances with an effect that writes its note, and then fails if told to; the note then ends in an exclamation mark. */
export function deliver<Tx>(
  { store, write }: ConformanceFixture<Tx>,
  payment: VersionedPayment,
  failure?: Error,
): Promise<VersionDecision> {
  return store.advance(payment, async (tx) => {
    await write(tx, failure ? `${noteOf(payment)}!` : noteOf(payment))
    if (failure) throw failure
  })
}

/** An effect that must not run. */
export function unwanted(): never {
  throw new Error('an effect ran that must not run')
}
