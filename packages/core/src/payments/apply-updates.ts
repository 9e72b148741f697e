/** Applies updates of processors, each once per id. Source: docs/decisions/processor-updates.md. @module */
import { createHash } from 'node:crypto'
import { type ProcessorUpdate, processorUpdateSchema, type UpdateResult } from '@payment-integration/contract'
import { StoreError, UpdateConflictError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import { groupBy } from '../internal/values.js'
import type { Store, StoreTransaction } from '../ports/store.js'
import { changeStatusByUpdate, type StatusDecision } from './change-status.js'
import { copyInvoice, copyRecipient, type StoredPayment } from './payment.js'
import type { NewUpdate, PaymentSelector, SettledUpdate, StoredUpdate } from './payment-store.js'
import { findRegistered, type Recording } from './recording.js'
import { type StatusChange, storeStatusChanges } from './snapshot.js'

/** An update that waits for the host's commit. */
export interface JoinedUpdate {
  readonly result: UpdateResult
  /**
   * Call it once the host has committed: it publishes the events and wakes the dispatcher. Otherwise the delivery waits
   * for the next poll of the outbox.
   */
  committed(): void
}

export function toSelectors(updates: readonly ProcessorUpdate[]): PaymentSelector[] {
  const selectors = updates.map(({ chainId, txHash }) => ({ chainId: Number(chainId), txHash }))
  return [...new Map(selectors.map((selector) => [toTransactionKey(selector), selector])).values()]
}

type Decisions = ReturnType<typeof createDecisions>

/**
 * Decides updates one after the other: each decision starts from the status that the decisions before it left.
 * @param payments - The result of `paymentsForChange` for `toSelectors(updates)`.
 */
export function createDecisions(payments: readonly StoredPayment[]) {
  const byTransaction = groupBy(payments, toTransactionKey)
  const findPayments = (update: ProcessorUpdate) => byTransaction.get(toTransactionKey(update)) ?? []
  /** The changes of the updates that were applied, in order. */
  const changes: StatusChange[] = []
  /** To publish once the changes are durable, in order. */
  const events: ServiceEvent[] = []
  return {
    changes,
    events,
    /**
     * Whether the payment of an update is stored. A transaction that fulfils bridge deposits may get more payments
     * later, so there only a payment of the named integration counts.
     */
    isPaymentStored(update: ProcessorUpdate): boolean {
      const group = findPayments(update)
      const isNamed = (payment: StoredPayment) => payment.integrationAddress === update.integrationAddress
      const mayGrow = group.some(({ source, chainId }) => source.chainId !== chainId)
      return update.integrationAddress !== undefined && mayGrow ? group.some(isNamed) : group.length > 0
    },
    /** Decides the next update. @throws TypeError When its transaction has no known payment. */
    decide(update: ProcessorUpdate): Omit<SettledUpdate, 'id'> {
      const group = findPayments(update)
      const { payment, status, ...result } = decideUpdate(group, update)
      const { id: paymentId, chainId, txHash, integrationAddress, state: from } = payment
      const paymentKey = { chainId, txHash, integrationAddress }
      const { outcome, reason } = result
      events.push({ type: 'update.settled', updateId: update.id, outcome, reason, ...paymentKey })
      if (status !== null) {
        events.push({ type: 'payment.changed', version: status.version, from, to: status.state, ...paymentKey })
        changes.push({ payment, status })
        group[group.indexOf(payment)] = { ...payment, ...status }
      }
      return { paymentId, ...result }
    },
  }
}

const toTransactionKey = ({ chainId, txHash }: { readonly chainId: number | string; readonly txHash: string }) =>
  `${chainId}:${txHash}`

interface UpdateDecision extends StatusDecision, Pick<SettledUpdate, 'version'> {
  readonly payment: StoredPayment
}

/** Decides an update. If several integrations have payments, `integrationAddress` names one; without it: rejected. */
function decideUpdate(payments: readonly StoredPayment[], update: ProcessorUpdate): UpdateDecision {
  const [first] = payments
  if (first === undefined) throw new TypeError('An update is decided on at least one payment.')
  const namedAddress = update.integrationAddress
  const named =
    namedAddress === undefined ? payments : payments.filter((each) => each.integrationAddress === namedAddress)
  const [payment, ...otherPayments] = named
  const reject = (about: StoredPayment, reason: string): UpdateDecision => {
    return { payment: about, outcome: 'refused', reason, version: null, status: null }
  }
  if (payment === undefined) return reject(first, 'no payment of the transaction names this integrationAddress')
  if (otherPayments.length > 0)
    return reject(payment, 'the transaction holds payments of several integrations; name one in integrationAddress')
  const decision = changeStatusByUpdate(payment, update)
  return { payment, ...decision, version: (decision.status ?? payment).version }
}

/** Results of the updates in order; rejected with an `UpdateConflictError` when the id was used with other content. */
export type UpdateOutcomes = readonly PromiseSettledResult<UpdateResult>[]

const maxAttempts = 5

/**
 * Applies updates in one transaction: statuses, versions, snapshots, outbox rows and records. The same id with the same
 * content gets the same answer. An update of a payment that is not indexed yet waits for it. A service that records
 * only its own integrations rejects an update of another one and stores no record.
 */
export async function applyUpdates(
  store: Pick<Store, 'transaction'>,
  updates: readonly ProcessorUpdate[],
  recording: Recording = 'all',
): Promise<{ readonly outcomes: UpdateOutcomes; readonly events: readonly ServiceEvent[] }> {
  let chainIds: readonly number[] = []
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.transaction((tx) => applyInTransaction(tx, updates, chainIds, recording), { searches: true })
    } catch (error) {
      if (error instanceof UnindexedError) chainIds = error.chainIds
      else if (!(error instanceof IdTakenError)) throw error
      if (attempt === maxAttempts)
        throw new StoreError('ERR_STORE_BUSY', 'Other transactions store the same updates; try again.')
    }
  }
}

async function applyInTransaction(
  tx: StoreTransaction,
  updates: readonly ProcessorUpdate[],
  chainIds: readonly number[],
  recording: Recording,
) {
  // Concurrent copies of an update lock the same payment, so the later copy finds the record of the first.
  const decisions = await lockPayments(tx, updates, chainIds)
  const found = await tx.findUpdates([...new Set(updates.map(({ id }) => id))])
  const storedUpdates = new Map(found.map((each) => [each.id, each]))
  const registered = recording === 'all' ? null : await findRegistered(tx, updates)
  const added: NewUpdate[] = []
  const outcomes = updates.map((update): PromiseSettledResult<UpdateResult> => {
    const { id } = update
    const fingerprint = computeFingerprint(update)
    const before = storedUpdates.get(id)
    if (before !== undefined) return answerRepeated(before, fingerprint)
    const reason = registered && findForeignReason(update, registered)
    if (reason !== null) return rejectForeign(decisions, update, reason)
    const { paymentId, ...result } = decideOrWait(decisions, update)
    const stored = { id, fingerprint, ...result }
    storedUpdates.set(id, stored)
    added.push({ update, fingerprint, paymentId, ...result })
    return { status: 'fulfilled', value: toUpdateResult(stored) }
  })
  if ((await tx.insertUpdates(added)).length < added.length) throw new IdTakenError()
  await storeStatusChanges(tx, decisions.changes)
  return { outcomes, events: decisions.events }
}

/** Another transaction stored an id after this one looked it up. */
class IdTakenError extends Error {}

class UnindexedError extends Error {
  readonly chainIds: readonly number[]
  constructor(chainIds: readonly number[]) {
    super('Some payments are not indexed yet.')
    this.chainIds = chainIds
  }
}

/**
 * Locks the payments of updates. An indexer may be committing a missing payment. So `shareChain` waits for the indexer,
 * and blocks its next commit until the updates are stored. Chains are locked before payments, as the indexer does, so
 * that neither waits for the other. UnindexedError: begin again with its chains.
 */
async function lockPayments(
  tx: StoreTransaction,
  updates: readonly ProcessorUpdate[],
  chainIds: readonly number[],
): Promise<Decisions> {
  for (const chainId of chainIds) await tx.shareChain(chainId)
  const decisions = createDecisions(await tx.paymentsForChange(...toSelectors(updates)))
  const missingChains = updates.flatMap((each) => (decisions.isPaymentStored(each) ? [] : [Number(each.chainId)]))
  if (missingChains.some((chainId) => !chainIds.includes(chainId)))
    throw new UnindexedError([...new Set([...chainIds, ...missingChains])].sort((a, b) => a - b))
  return decisions
}

/**
 * Why an update concerns no integration of this service, or null. An update without `integrationAddress` may concern a
 * payment of the transaction that is not stored.
 */
function findForeignReason(update: ProcessorUpdate, registered: ReadonlySet<string>): string | null {
  const address = update.integrationAddress
  if (address === undefined)
    return 'this service records payments of its own integrations alone; name one in integrationAddress'
  return registered.has(address) ? null : 'this service does not have the integration of this integrationAddress'
}

/** Rejects without a record, so that the same id may come again once the integration is registered. */
function rejectForeign(
  decisions: Decisions,
  update: ProcessorUpdate,
  reason: string,
): PromiseSettledResult<UpdateResult> {
  const { id, chainId, txHash, integrationAddress = null } = update
  const settled = { outcome: 'refused', reason } as const
  const paymentKey = { chainId: Number(chainId), txHash, integrationAddress }
  decisions.events.push({ type: 'update.settled', updateId: id, ...settled, ...paymentKey })
  return { status: 'fulfilled', value: { id, ...settled, version: null } }
}

function decideOrWait(decisions: Decisions, update: ProcessorUpdate): Omit<NewUpdate, 'update' | 'fingerprint'> {
  if (decisions.isPaymentStored(update)) return decisions.decide(update)
  const { id, txHash } = update
  const paymentKey = { chainId: Number(update.chainId), txHash, integrationAddress: null }
  decisions.events.push({ type: 'update.settled', updateId: id, outcome: 'waiting', reason: null, ...paymentKey })
  return { paymentId: null, outcome: 'waiting', reason: null, version: null }
}

/** Checks an update, and lowercases its identifiers: equal updates are equal text. @throws TypeError Names a field. */
export function checkUpdate(input: ProcessorUpdate): ProcessorUpdate {
  const parsed = processorUpdateSchema.safeParse(input)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new TypeError(
      `The update's ${issue?.path.join('.') || 'shape'} is invalid: ${issue?.message ?? 'wrong shape'}.`,
    )
  }
  const { id, chainId, txHash, integrationAddress, state, recipient, invoice } = parsed.data
  return {
    id,
    chainId,
    txHash: txHash.toLowerCase(),
    integrationAddress: integrationAddress?.toLowerCase(),
    state,
    recipient: recipient && copyRecipient(recipient),
    invoice: invoice && copyInvoice(invoice),
  }
}

/** Identifies the content of a checked update: 16 bytes, since a store has one for each update. */
function computeFingerprint(update: ProcessorUpdate): string {
  return `0x${createHash('sha256').update(JSON.stringify(update)).digest('hex').slice(0, 32)}`
}

function answerRepeated(stored: StoredUpdate, fingerprint: string): PromiseSettledResult<UpdateResult> {
  return stored.fingerprint === fingerprint
    ? { status: 'fulfilled', value: toUpdateResult(stored) }
    : { status: 'rejected', reason: new UpdateConflictError(stored.id) }
}

function toUpdateResult({ id, outcome, reason, version }: StoredUpdate): UpdateResult {
  const waitingReason = 'applied once the payment is indexed'
  return { id, outcome, version, reason: outcome === 'waiting' ? waitingReason : reason }
}
