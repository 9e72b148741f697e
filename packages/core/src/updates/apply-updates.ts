/**
 * Applies updates of processors, each once per id. Source: docs/architecture.md, docs/decisions/processor-updates.md.
 * @module
 */
import { type ProcessorUpdate, processorUpdateSchema, type UpdateResult } from '@payment-integration/contract'
import { StoreError, UpdateConflictError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import { emitSnapshots, type StatusChange } from '../payments/emit-snapshot.js'
import { copyInvoice, copyRecipient } from '../payments/merchant.js'
import type { StoredPayment } from '../payments/record.js'
import type { Store } from '../ports/store.js'
import type { StoredUpdate, StoreTransaction } from '../ports/store-transaction.js'
import { decideUpdate } from './settle-update.js'

/** Result of each update, in their order: rejected with an `UpdateConflictError` when its id has other content. */
export type UpdateOutcomes = readonly PromiseSettledResult<UpdateResult>[]

/** The outcomes, and the events to publish. */
export interface AppliedUpdates {
  readonly outcomes: UpdateOutcomes
  readonly events: readonly ServiceEvent[]
}

const attempts = 5

/**
 * Applies updates in one transaction: statuses, versions, snapshots, outbox rows and the records of the updates. The
 * same id with the same content gets the same answer. An update of a payment that is not indexed yet is stored as
 * `waiting`; indexing the payment applies it.
 * @param updates - Those of {@link checkedUpdate}.
 * @throws StoreError As the store does; nothing was applied then.
 */
export async function applyUpdates(
  store: Pick<Store, 'transaction'>,
  updates: readonly ProcessorUpdate[],
): Promise<AppliedUpdates> {
  let unindexed: readonly number[] = []
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.transaction((tx) => applyIn(tx, updates, unindexed), { searches: true })
    } catch (error) {
      if (error instanceof UnindexedError) unindexed = error.chainIds
      else if (!(error instanceof IdTakenError)) throw error
      if (attempt === attempts)
        throw new StoreError('ERR_STORE_BUSY', 'Other transactions store the same updates; try again.')
    }
  }
}

async function applyIn(
  tx: StoreTransaction,
  updates: readonly ProcessorUpdate[],
  unindexed: readonly number[],
): Promise<AppliedUpdates> {
  // Copies of an update lock the same payment. So the later one finds the record of the first.
  const payments = await lockPayments(tx, updates, unindexed)
  const known = new Map<string, StoredUpdate>()
  for (const stored of await tx.findUpdates([...new Set(updates.map(({ id }) => id))]))
    known.set(stored.update.id, stored)
  const stored: StoredUpdate[] = []
  const changes: StatusChange[] = []
  const events: ServiceEvent[] = []
  const outcomes = updates.map((update): PromiseSettledResult<UpdateResult> => {
    const before = known.get(update.id)
    if (before !== undefined) return repeated(before, update)
    const decided = decide(payments, update)
    const record = { update, ...decided.result }
    known.set(update.id, record)
    stored.push(record)
    events.push(...decided.events)
    if (decided.change !== null) {
      changes.push(decided.change)
      replace(payments, decided.change)
    }
    return { status: 'fulfilled', value: answer(record) }
  })
  if (stored.length > 0 && (await tx.insertUpdates(stored)).length < stored.length) throw new IdTakenError()
  await emitSnapshots(tx, changes)
  return { outcomes, events }
}

/** Another transaction stored an id after this one looked for it. */
class IdTakenError extends Error {}

/** Payments of these chains are not indexed yet. */
class UnindexedError extends Error {
  readonly chainIds: readonly number[]
  constructor(chainIds: readonly number[]) {
    super('Some payments are not indexed yet.')
    this.chainIds = chainIds
  }
}

/** The payments of transactions by {@link keyOf}. */
type Locked = Map<string, StoredPayment[]>

const keyOf = ({ chainId, txHash }: { readonly chainId: number | string; readonly txHash: string }) =>
  `${chainId}:${txHash}`

/**
 * Locks the payments of the updates. An indexer may be committing one that is not found: then its chain is shared. That
 * waits for the indexer, and blocks the next one until the updates are stored. Chains come before payments, as in the
 * indexer's own transactions, so that neither waits for the other.
 * @param unindexed - Chains that may lack a payment, ascending.
 * @throws UnindexedError When another chain lacks one: begin again with these chains.
 */
async function lockPayments(
  tx: StoreTransaction,
  updates: readonly ProcessorUpdate[],
  unindexed: readonly number[],
): Promise<Locked> {
  for (const chainId of unindexed) await tx.shareChain(chainId)
  const selectors = new Map(
    updates.map(({ chainId, txHash }) => [keyOf({ chainId, txHash }), { chainId: Number(chainId), txHash }]),
  )
  const locked: Locked = new Map([...selectors.keys()].map((key) => [key, []]))
  for (const payment of await tx.paymentsForChange(...selectors.values())) locked.get(keyOf(payment))?.push(payment)
  const lacking = [...selectors].flatMap(([key, { chainId }]) => (locked.get(key)?.length === 0 ? [chainId] : []))
  if (lacking.some((chainId) => !unindexed.includes(chainId)))
    throw new UnindexedError([...new Set([...unindexed, ...lacking])].sort((a, b) => a - b))
  return locked
}

function decide(payments: Locked, update: ProcessorUpdate) {
  const found = payments.get(keyOf(update)) ?? []
  if (found.length > 0) return decideUpdate(found, update)
  const { id, chainId, txHash } = update
  const result = { outcome: 'waiting', reason: null, version: null } as const
  const event = { type: 'update.settled', updateId: id, outcome: 'waiting', reason: null } as const
  return { result, change: null, events: [{ ...event, chainId: Number(chainId), txHash }] }
}

/** A later update of the same payment builds on this change. */
function replace(payments: Locked, { payment, status }: StatusChange): void {
  const found = payments.get(keyOf(payment)) ?? []
  found[found.indexOf(payment)] = { ...payment, ...status }
}

/**
 * An update with lowercase identifiers and every field named, so that equal updates are equal as text.
 * @throws TypeError When it does not have the contract's shape: a host or its receipt source may pass any value.
 */
export function checkedUpdate(input: ProcessorUpdate): ProcessorUpdate {
  const parsed = processorUpdateSchema.safeParse(input)
  if (parsed.success) return normalized(parsed.data)
  const issue = parsed.error.issues[0]
  throw new TypeError(`The update's ${issue?.path.join('.') || 'shape'} is refused: ${issue?.message ?? 'invalid'}.`)
}

function normalized(input: ProcessorUpdate): ProcessorUpdate {
  const { id, chainId, state, recipient, invoice } = input
  return {
    id,
    chainId,
    txHash: input.txHash.toLowerCase(),
    ...(input.integrationAddress === undefined ? {} : { integrationAddress: input.integrationAddress.toLowerCase() }),
    ...(state === undefined ? {} : { state }),
    ...(recipient === undefined ? {} : { recipient: copyRecipient(recipient) }),
    ...(invoice === undefined ? {} : { invoice: copyInvoice(invoice) }),
  }
}

function repeated(known: StoredUpdate, update: ProcessorUpdate): PromiseSettledResult<UpdateResult> {
  return JSON.stringify(known.update) === JSON.stringify(update)
    ? { status: 'fulfilled', value: answer(known) }
    : { status: 'rejected', reason: new UpdateConflictError(update.id) }
}

function answer({ update, outcome, reason, version }: StoredUpdate): UpdateResult {
  return { id: update.id, outcome, version, reason }
}
