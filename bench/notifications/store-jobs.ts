/** Payments with their snapshots and outbox rows, as an indexer stores them. @module */
import type { Store } from '@payment-integration/core'
import { jobAt, paymentOf } from './jobs.js'

/** Which jobs. */
export interface Places {
  readonly from: number
  readonly count: number
}

/** Stores the payments of the jobs, all in one transaction. */
export async function storeJobs(store: Pick<Store, 'transaction'>, { from, count }: Places): Promise<void> {
  const jobs = Array.from({ length: count }, (_, n) => ({ place: from + n, job: jobAt(from + n) }))
  const bodies = new Map(jobs.map(({ job }) => [job.txHash, job.body]))
  await store.transaction(async (tx) => {
    const { inserted } = await tx.upsertPayments(jobs.map(({ job, place }) => paymentOf(job, place)))
    await tx.insertSnapshots(
      inserted.map(({ id, txHash, integrationAddress }) => ({
        paymentId: id,
        version: 1,
        body: Buffer.from(bodies.get(txHash) ?? ''),
        integrationAddress,
      })),
    )
  })
}
