/** Applies updates of processors, each once per id. Source: docs/decisions/processor-updates.md. @module */
import { createHash } from 'node:crypto'
import { type ProcessorUpdate, processorUpdateSchema, type UpdateResult } from '@payment-integration/contract'
import { StoreError, UpdateConflictError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import { groupBy } from '../internal/values.js'
import type { Store, StoreTransaction } from '../ports/store.js'
import { changeStatusByUpdate, type StatusChange, storeStatusChanges } from './change-status.js'
import { copyInvoice, copyRecipient, type StoredPayment } from './payment.js'
import type { NewUpdate, PaymentSelector, SettledUpdate, StoredUpdate } from './payment-store.js'
import { findRegistered, type Recording } from './recording.js'

/** An update that waits for the host's commit. */
export interface JoinedUpdate {
  readonly result: UpdateResult
  /** Call it after the host's commit: it publishes the events and wakes the dispatcher, which otherwise polls later. */
  committed(): void
}

export function toSelectors(updates: readonly ProcessorUpdate[]): PaymentSelector[] {
  const selectors = updates.map(({ chainId, txHash }) => ({ chainId: Number(chainId), txHash }))
  return [...new Map(selectors.map((selector) => [toTransactionKey(selector), selector])).values()]
}

const toTransactionKey = ({ chainId, txHash }: { readonly chainId: number | string; readonly txHash: string }) =>
  `${chainId}:${txHash}`

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

  /** Adds the event of an update's outcome. */
  function report(
    { id: updateId, chainId, txHash }: ProcessorUpdate,
    { outcome, reason }: Pick<StoredUpdate, 'outcome' | 'reason'>,
    integrationAddress: string | null = null,
  ): void {
    const paymentKey = { chainId: Number(chainId), txHash, integrationAddress }
    events.push({ type: 'update.settled', updateId, outcome, reason, ...paymentKey })
  }

  return {
    changes,
    events,
    report,
    /**
     * Whether the payment of an update is stored. A transaction that fulfills bridge deposits may get more payments
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
      const { integrationAddress: named } = update
      const fitting = group.filter(({ integrationAddress }) => named === undefined || integrationAddress === named)
      const payment = fitting[0] ?? group[0]
      if (payment === undefined) throw new TypeError('An update is decided on at least one payment.')
      const { outcome, reason, status, version } = decideUpdate(fitting, update)
      report(update, { outcome, reason }, payment.integrationAddress)
      if (status !== null) {
        const { chainId, txHash, integrationAddress, state: from } = payment
        const change = { version: status.version, from, to: status.state }
        events.push({ type: 'payment.changed', ...change, chainId, txHash, integrationAddress })
        changes.push({ payment, status })
        group[group.indexOf(payment)] = { ...payment, ...status }
      }
      return { paymentId: payment.id, outcome, reason, version }
    },
  }
}

/** If several integrations have payments in the transaction, the update must name one of them. */
function decideUpdate([payment, ...others]: readonly StoredPayment[], update: ProcessorUpdate) {
  const reject = (reason: string) => ({ outcome: 'rejected', reason, version: null, status: null }) as const
  if (payment === undefined) return reject('no payment of the transaction names this integrationAddress')
  if (others.length > 0)
    return reject('the transaction holds payments of several integrations; name one in integrationAddress')
  const decision = changeStatusByUpdate(payment, update)
  return { ...decision, version: (decision.status ?? payment).version }
}

/** Results of the updates in order; rejected with an `UpdateConflictError` when the id was used with other content. */
export type UpdateOutcomes = readonly PromiseSettledResult<UpdateResult>[]

const maxAttempts = 5

/** The result of an update whose payment is not indexed yet. */
const waitingResult = { paymentId: null, outcome: 'waiting', reason: null, version: null } as const

/** Another transaction committed or may be committing what this one needs: begin again, with these chains locked. */
class RepeatError extends Error {
  readonly chainIds: readonly number[]
  constructor(chainIds: readonly number[]) {
    super('Another transaction stores payments or updates that this one needs.')
    this.chainIds = chainIds
  }
}

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
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    try {
      return await store.transaction((tx) => applyInTransaction(tx, updates, chainIds, recording), { searches: true })
    } catch (error) {
      if (!(error instanceof RepeatError)) throw error
      chainIds = error.chainIds
    }
  }
  throw new StoreError('ERR_STORE_BUSY', 'Other transactions store the same updates; try again.')
}

/**
 * An indexer may be committing a missing payment. So `shareChain` waits for the indexer, and blocks its next commit
 * until the updates are stored. Chains are locked before payments, as the indexer does, so that neither waits for the
 * other.
 */
async function applyInTransaction(
  tx: StoreTransaction,
  updates: readonly ProcessorUpdate[],
  chainIds: readonly number[],
  recording: Recording,
) {
  for (const chainId of chainIds) await tx.shareChain(chainId)
  // Concurrent copies of an update lock the same payment, so the later copy finds the record of the first.
  const decisions = createDecisions(await tx.paymentsForChange(...toSelectors(updates)))
  const missingChains = updates.flatMap((each) => (decisions.isPaymentStored(each) ? [] : [Number(each.chainId)]))
  if (missingChains.some((chainId) => !chainIds.includes(chainId)))
    throw new RepeatError([...new Set([...chainIds, ...missingChains])].sort((a, b) => a - b))
  const records = await tx.findUpdates([...new Set(updates.map(({ id }) => id))])
  const storedUpdates = new Map(records.map((each) => [each.id, each]))
  const registered = recording === 'all' ? null : await findRegistered(tx, updates)
  const added: NewUpdate[] = []
  const outcomes = updates.map((update): PromiseSettledResult<UpdateResult> => {
    const { id } = update
    const fingerprint = computeFingerprint(update)
    let stored = storedUpdates.get(id)
    if (stored === undefined) {
      const rejected = registered && rejectForeign(update, registered)
      if (rejected !== null) {
        decisions.report(update, rejected, update.integrationAddress)
        return { status: 'fulfilled', value: rejected }
      }
      const { paymentId, ...result } = decisions.isPaymentStored(update) ? decisions.decide(update) : waitingResult
      if (paymentId === null) decisions.report(update, result)
      stored = { id, fingerprint, ...result }
      storedUpdates.set(id, stored)
      added.push({ update, fingerprint, paymentId, ...result })
    }
    if (stored.fingerprint !== fingerprint) return { status: 'rejected', reason: new UpdateConflictError(id) }
    const { outcome, version } = stored
    const reason = outcome === 'waiting' ? 'applied once the payment is indexed' : stored.reason
    return { status: 'fulfilled', value: { id, outcome, version, reason } }
  })
  // Another transaction stored an id after this one looked it up.
  if ((await tx.insertUpdates(added)).length < added.length) throw new RepeatError(chainIds)
  await storeStatusChanges(tx, decisions.changes)
  return { outcomes, events: decisions.events }
}

/**
 * Rejects an update that concerns no integration of this service; else null. Nothing is recorded, so that the same id
 * may come again once the integration is registered. Without `integrationAddress` an update may concern a payment of
 * the transaction that is not stored.
 */
function rejectForeign({ id, integrationAddress }: ProcessorUpdate, registered: ReadonlySet<string>) {
  const reject = (reason: string) => ({ id, outcome: 'rejected', reason, version: null }) as const
  if (integrationAddress === undefined)
    return reject('this service records payments of its own integrations alone; name one in integrationAddress')
  if (registered.has(integrationAddress)) return null
  return reject('this service does not have the integration of this integrationAddress')
}

/**
 * Checks an update, and lowercases its hash and address, so that equal updates are equal text.
 * @throws TypeError It names the malformed field.
 */
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
