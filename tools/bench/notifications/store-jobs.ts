/** Stores payments, snapshots and outbox rows like an indexer. @module */
import type { NewPayment, NewSnapshot, Store, StoreTransaction } from '@payment-integration/core/ports'
import { jobAt, paymentOf } from './jobs.js'

/** Range of jobs. */
export interface Places {
  readonly from: number
  readonly count: number
}

/** A payment, and the body of its first snapshot. */
export interface MadePayment {
  readonly payment: NewPayment
  readonly body: Buffer
}

/** Builds the payments of the jobs. */
export function makePayments({ from, count }: Places): MadePayment[] {
  return Array.from({ length: count }, (_, n) => {
    const job = jobAt(from + n)
    return { payment: paymentOf(job, from + n), body: Buffer.from(job.body) }
  })
}

/** Stores new payments in one transaction. */
export async function storePayments(store: Pick<Store, 'transaction'>, made: readonly MadePayment[]): Promise<void> {
  await store.transaction(async (tx) => tx.insertSnapshots(await insertPayments(tx, made)))
}

/** Stores payments without their first snapshots, and resolves those snapshots in order. */
export function storeWithoutSnapshots(
  store: Pick<Store, 'transaction'>,
  made: readonly MadePayment[],
): Promise<NewSnapshot[]> {
  return store.transaction((tx) => insertPayments(tx, made))
}

async function insertPayments(tx: StoreTransaction, made: readonly MadePayment[]): Promise<NewSnapshot[]> {
  const bodies = new Map(made.map(({ payment, body }) => [payment.facts.txHash, body]))
  const { inserted } = await tx.upsertPayments(made.map(({ payment }) => payment))
  return inserted.map(({ id, txHash, chainId, integrationAddress }) => {
    const body = bodies.get(txHash)
    if (body === undefined) throw new Error(`no payment of ${txHash} was given`)
    return { paymentId: id, version: 1, body, integrationAddress, chainId, txHash }
  })
}

/** Builds and stores the payments of the jobs. */
export const storeJobs = (store: Pick<Store, 'transaction'>, places: Places): Promise<void> =>
  storePayments(store, makePayments(places))
