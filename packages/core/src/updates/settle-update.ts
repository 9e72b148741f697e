/**
 * Decides the outcome of an update on the payments of its transaction. Source: docs/decisions/processor-updates.md.
 * @module
 */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { ServiceEvent } from '../events.js'
import { changeStatus } from '../payments/change-status.js'
import type { StatusChange } from '../payments/emit-snapshot.js'
import type { PaymentStatus, StoredPayment } from '../payments/record.js'
import type { SettledUpdate } from '../ports/store-transaction.js'

/** The outcome of an update. It is decided first, so that the id is stored before any other write. */
export interface UpdateDecision {
  readonly result: Omit<SettledUpdate, 'id'>
  /** Present when the update is applied. */
  readonly change: StatusChange | null
  /** To publish once the change is durable. */
  readonly events: readonly ServiceEvent[]
}

/**
 * Decides an update on the payments of its transaction, of which there is at least one. `integrationAddress` chooses
 * among payments that name different integrations. Without it several payments are refused. An address that no payment
 * names is refused too.
 */
export function decideUpdate(payments: readonly StoredPayment[], update: ProcessorUpdate): UpdateDecision {
  const [first] = payments
  if (first === undefined) throw new TypeError('An update is decided on at least one payment.')
  const wanted = update.integrationAddress
  const named = wanted === undefined ? payments : payments.filter((each) => each.integrationAddress === wanted)
  const [payment, ...others] = named
  if (payment === undefined)
    return decision(update, first, {
      outcome: 'refused',
      reason: 'no payment of the transaction names this integrationAddress',
      version: null,
    })
  if (others.length > 0)
    return decision(update, payment, {
      outcome: 'refused',
      reason: 'the transaction holds payments of several integrations; name one in integrationAddress',
      version: null,
    })
  const change = changeStatus(payment, update)
  if (change.kind === 'refused')
    return decision(update, payment, { outcome: 'refused', reason: change.reason, version: payment.version })
  if (change.kind === 'unchanged')
    return decision(update, payment, { outcome: 'unchanged', reason: null, version: payment.version })
  const { status } = change
  return decision(update, payment, { outcome: 'applied', reason: null, version: status.version }, status)
}

function decision(
  update: ProcessorUpdate,
  payment: StoredPayment,
  decided: Omit<UpdateDecision['result'], 'paymentId'>,
  status?: PaymentStatus,
): UpdateDecision {
  const { id: paymentId, chainId, txHash, integrationAddress } = payment
  const { outcome, reason } = decided
  const name = { chainId, txHash, integrationAddress }
  const events: ServiceEvent[] = [{ type: 'update.settled', updateId: update.id, outcome, reason, ...name }]
  if (status !== undefined) {
    const { version, state: to } = status
    events.push({ type: 'payment.changed', version, from: payment.state, to, ...name })
  }
  return { result: { paymentId, ...decided }, change: status === undefined ? null : { payment, status }, events }
}
