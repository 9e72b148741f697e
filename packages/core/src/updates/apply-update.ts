/**
 * Applies a processor's update, once per id. Source: docs/architecture.md, docs/decisions/processor-updates.md.
 * @module
 */
import { type ProcessorUpdate, processorUpdateSchema, type UpdateResult } from '@payment-integration/contract'
import { UpdateConflictError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import { emitSnapshot } from '../payments/emit-snapshot.js'
import { copyInvoice, copyRecipient } from '../payments/merchant.js'
import type { Store } from '../ports/store.js'
import type { StoredUpdate, StoreTransaction } from '../ports/store-transaction.js'
import { decideUpdate } from './settle-update.js'

/** The answer to an update, and the events to publish. */
export interface AppliedUpdate {
  readonly result: UpdateResult
  readonly events: readonly ServiceEvent[]
}

/**
 * Applies an update in one transaction: status, version, snapshot, outbox row and the record of the update itself.
 * The same id with the same content gets the same answer. An update of a payment that is not indexed yet is stored as
 * `waiting`; indexing the payment applies it.
 * @throws UpdateConflictError `ERR_UPDATE_CONFLICT` when the id was used with other content.
 * @throws TypeError When the update does not have the contract's shape, before anything is read or written.
 */
export async function applyUpdate(store: Pick<Store, 'transaction'>, input: ProcessorUpdate): Promise<AppliedUpdate> {
  const update = normalizeUpdate(checkShape(input))
  return store.transaction(async (tx) => {
    const known = await tx.findUpdate(update.id)
    if (known !== null) return repeated(known, update)
    const payments = await findPayments(tx, update)
    const decided =
      payments.length === 0
        ? {
            result: { outcome: 'waiting', reason: null, version: null } as const,
            change: null,
            events: waitingEvent(update),
          }
        : decideUpdate(payments, update)
    // The id is stored before the change: of two copies at once, the later finds the record and writes nothing.
    const stored = { update, ...decided.result }
    if (!(await tx.insertUpdate(stored))) return repeated(await tx.findUpdate(update.id), update)
    if (decided.change !== null) await emitSnapshot(tx, decided.change)
    return { result: answer(stored), events: decided.events }
  })
}

// A host or its receipt source may pass a value that does not have the type.
function checkShape(input: ProcessorUpdate): ProcessorUpdate {
  const parsed = processorUpdateSchema.safeParse(input)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new TypeError(`The update's ${issue?.path.join('.') || 'shape'} is refused: ${issue?.message ?? 'invalid'}.`)
}

/** Lowercases the identifiers and names every field, so that equal updates are equal as text. */
function normalizeUpdate(input: ProcessorUpdate): ProcessorUpdate {
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

async function findPayments(tx: StoreTransaction, update: ProcessorUpdate) {
  const selector = { chainId: Number(update.chainId), txHash: update.txHash }
  const found = await tx.paymentsForChange(selector)
  if (found.length > 0) return found
  // An indexer may be committing this payment: wait for it, and block the next one until the update is stored.
  await tx.shareChain(selector.chainId)
  return tx.paymentsForChange(selector)
}

function repeated(known: StoredUpdate | null, update: ProcessorUpdate): AppliedUpdate {
  if (known === null || JSON.stringify(normalizeUpdate(known.update)) !== JSON.stringify(update))
    throw new UpdateConflictError(update.id)
  return { result: answer(known), events: [] }
}

function answer({ update, outcome, reason, version }: StoredUpdate): UpdateResult {
  return { id: update.id, outcome, version, reason }
}

function waitingEvent({ id, chainId, txHash }: ProcessorUpdate): readonly ServiceEvent[] {
  return [{ type: 'update.settled', updateId: id, outcome: 'waiting', reason: null, chainId: Number(chainId), txHash }]
}
