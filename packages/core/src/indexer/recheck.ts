/** Compares stored payments with the chain, and repairs a range. Source: docs/decisions/completeness.md. @module */
import { isDeepStrictEqual } from 'node:util'
import { ChainError, CheckpointChangedError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import type { PaymentFacts, StoredPayment } from '../payments/payment.js'
import type { NewPayment } from '../payments/payment-store.js'
import { assertKnownHashes, type RangeToRecord, recordRange } from '../payments/record-range.js'
import { chooseRecorded, type Recording } from '../payments/recording.js'
import { dropOverdue } from '../payments/state.js'
import { isReadBy, matchOrdinals, storePayments, toOrdinalKey } from '../payments/store-payments.js'
import type { BlockRange } from '../ports/chain.js'
import type { Store, StoreTransaction } from '../ports/store.js'

/** A payment whose stored record differs from the chain. */
export interface ReindexDifference {
  /** `missing`: not stored. `extra`: not on the chain. `changed`: stored with other facts, or as off the chain. */
  readonly kind: 'missing' | 'extra' | 'changed'
  /** Lowercased. */
  readonly txHash: string
  /** Position of the payment in its transaction. */
  readonly ordinal: number
  /** For `changed`: the differing fields, such as `blockHash`; `offChain` for a payment marked as off the chain. */
  readonly fields?: readonly string[]
}

const factNames = [
  'logIndex',
  'blockNumber',
  'blockHash',
  'blockTimestamp',
  'router',
  'sender',
  'receiver',
  'memoHex',
  'integrationAddress',
  'source',
  'tokenIn',
  'tokenOut',
  'pricing',
] as const satisfies readonly (keyof PaymentFacts)[]

function findDifferingFields(row: StoredPayment, facts: PaymentFacts, isOrphaned: boolean): string[] {
  const fields: string[] = factNames.filter((name) => !isDeepStrictEqual(row[name], facts[name]))
  return row.offChain && !isOrphaned ? [...fields, 'offChain'] : fields
}

type Transactions = Pick<Store, 'transaction'>

interface RereadRange {
  readonly chainId: number
  readonly range: BlockRange
  readonly routers: readonly string[]
  /** Whether the stored blocks are orphaned: their off-chain marks then say nothing. */
  readonly isOrphaned: boolean
  readonly recording: Recording
}

export interface Recheck {
  readonly differences: readonly ReindexDifference[]
  readonly repaired: boolean
  readonly events: readonly ServiceEvent[]
}

/**
 * Compares blocks up to the checkpoint, and with `repair` stores the differences and the proof. Nothing is written when
 * the checkpoint is below the range, or the range contradicts the stored hashes.
 */
export function recheck(store: Transactions, input: RereadRange & { readonly repair: boolean }): Promise<Recheck> {
  const { chainId, range, repair } = input
  const { first, last, proof, node } = range
  return store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    const { differences, paymentsToStore, extra, deposits, skipped } = await compareRange(tx, input)
    if (!repair) return { differences, repaired: false, events: [] }
    if (stored === null || stored.blockNumber < last.number) throw new CheckpointChangedError(chainId)
    await assertKnownHashes(tx, chainId, range)
    const events = await storePayments(tx, paymentsToStore)
    await tx.markOffChain(extra.map(({ id }) => id))
    await tx.upsertDeposits(deposits)
    await tx.addProof(chainId, { from: first.number, to: last.number, proof, node })
    return { differences, repaired: differences.some(isWritable), events: [...events, ...skipped] }
  })
}

/** Records blocks above the checkpoint as an indexer does, and reports their differences from the stored payments. */
export async function recordAndCompare(store: Transactions, input: RereadRange & RangeToRecord): Promise<Recheck> {
  const { chainId, range, expected } = input
  if (expected === null || range.first.number !== expected.blockNumber + 1) throw new CheckpointChangedError(chainId)
  if (range.first.parentHash !== expected.blockHash)
    throw new ChainError(
      'ERR_CHAIN_RANGE_GONE',
      chainId,
      `Block ${range.first.number} of chain ${chainId} does not continue the checkpoint.`,
    )
  const { differences } = await store.transaction((tx) => compareRange(tx, input))
  const events = await recordRange(store, input)
  return { differences, repaired: differences.some(isWritable), events }
}

/** Drops all payments off the chain whose height is final, in parts. Yields the events to publish. */
export async function* dropAllOverdue(
  store: Transactions,
  { chainId, finalityBlocks }: { readonly chainId: number; readonly finalityBlocks: number | null },
): AsyncGenerator<ServiceEvent, void, undefined> {
  for (let more = true; more; ) {
    const dropped = await store.transaction(async (tx) => {
      const indexedTo = (await tx.lockChain(chainId))?.blockNumber ?? 0
      return dropOverdue(tx, { chainId, indexedTo, finalityBlocks })
    })
    more = dropped.more
    yield* dropped.events
  }
}

/**
 * Compares the payments that this service records. Payments of routers that were not read, and payments from another
 * chain, are not compared. `skipped`: the event that counts the payments and deposits that are not recorded here.
 */
async function compareRange(tx: StoreTransaction, { chainId, range, routers, isOrphaned, recording }: RereadRange) {
  const stored = await tx.paymentsInBlocks(chainId, range.first.number, range.last.number)
  const { payments, deposits, events: skipped } = await chooseRecorded(tx, recording, { ...range, chainId }, stored)
  const onChain = matchOrdinals(payments, stored, routers)
  const rows = new Map(stored.map((row) => [toOrdinalKey(row), row]))
  const differences: ReindexDifference[] = []
  const paymentsToStore: NewPayment[] = []
  for (const payment of onChain) {
    const { facts } = payment
    const { txHash, ordinal } = facts
    const row = rows.get(toOrdinalKey(facts))
    const fields = row === undefined ? [] : findDifferingFields(row, facts, isOrphaned)
    if (row !== undefined && fields.length === 0 && !(isOrphaned && row.offChain)) continue
    paymentsToStore.push(payment)
    if (row === undefined) differences.push({ kind: 'missing', txHash, ordinal })
    else if (fields.length > 0) differences.push({ kind: 'changed', txHash, ordinal, fields })
  }
  const present = new Set(onChain.map(({ facts }) => toOrdinalKey(facts)))
  const listed = new Set(routers)
  const extra = stored
    .filter((row) => !present.has(toOrdinalKey(row)) && isReadBy(listed, row))
    .filter(({ dropped, offChain }) => (isOrphaned ? dropped === null : !offChain))
  for (const { txHash, ordinal } of extra) differences.push({ kind: 'extra', txHash, ordinal })
  return { differences, paymentsToStore, extra, deposits, skipped }
}

function isWritable({ kind, fields = [] }: ReindexDifference): boolean {
  return kind !== 'changed' || fields.some((name) => name !== 'integrationAddress')
}
