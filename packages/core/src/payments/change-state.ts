/**
 * Gives a payment a state that follows from the chain alone. Source: docs/decisions/reorganisations.md,
 * docs/decisions/version.md.
 * @module
 */
import type { PaymentState } from '@payment-integration/contract'
import type { ServiceEvent } from '../events.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import { emitSnapshots } from './emit-snapshot.js'
import type { StoredPayment } from './record.js'

/**
 * Gives a payment a state: version + 1, snapshot and outbox row. A payment that has that state already is unchanged.
 * The rules of transitions bind processors alone. The caller has locked the payment.
 *
 * @returns Events to publish after the commit.
 */
export async function changeState(
  tx: StoreTransaction,
  payment: StoredPayment,
  state: PaymentState | null,
): Promise<ServiceEvent[]> {
  const { state: from, chainId, txHash, integrationAddress, recipient, invoice } = payment
  if (from === state) return []
  const version = payment.version + 1
  await emitSnapshots(tx, [{ payment, status: { version, state, recipient, invoice } }])
  return [{ type: 'payment.changed', version, from, to: state, chainId, txHash, integrationAddress }]
}
