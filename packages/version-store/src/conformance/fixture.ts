/** The adapter's fixture, and small helpers of the suite's tests. @module */
import type { VersionDecision } from '../decide-version.js'
import type { ListingVersionStore, VersionedPayment, VersionStore } from '../version-store.js'
import type { FaultPlan, Faults } from './faults.js'

/** A store under test, and a look at its database past the store. */
export interface ConformanceFixture<Tx> {
  /** Empty. */
  readonly store: VersionStore<Tx> | ListingVersionStore<Tx>
  /** Writes a note through the transaction of an effect. */
  write(tx: Tx, note: string): void | Promise<void>
  /** The committed notes, in the order of their writing; read outside of any effect, and past the faults. */
  notes(): Promise<readonly string[]>
  /**
   * Whether a listing may repeat a payment, as Redis' SCAN. Otherwise a repeated payment is an error.
   * @default false
   */
  readonly listsAgain?: boolean | undefined
  /** Ends the database. */
  close?(): Promise<void> | void
}

/**
 * Returns an empty store on a fresh database; called once per test. Sends every operation of the store's driver, and of
 * `write`, through the faults.
 */
export type OpenFixture<Tx> = (faults: Faults) => Promise<ConformanceFixture<Tx>>

/** One test of the suite. */
export interface Case<Tx> {
  readonly name: string
  readonly run: (fixture: ConformanceFixture<Tx>, faults: FaultPlan) => Promise<void>
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

/** Advances with an effect that writes its note, then fails if told to; the note then ends in an exclamation mark. */
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

/** A promise, and what settles it. */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** The distinct orders of a list that may hold equal members. */
export function orders(list: readonly number[]): number[][] {
  if (list.length === 0) return [[]]
  return [...new Set(list)].flatMap((first) => {
    const rest = [...list]
    rest.splice(rest.indexOf(first), 1)
    return orders(rest).map((order) => [first, ...order])
  })
}

/** Runs the work for each member, a few at a time; `index` numbers them. */
export async function forEachOf<Member>(
  members: readonly Member[],
  atATime: number,
  work: (member: Member, index: number) => Promise<void>,
): Promise<void> {
  const entries = members.entries()
  const one = async () => {
    for (const [index, member] of entries) await work(member, index)
  }
  await Promise.all(Array.from({ length: atATime }, one))
}
