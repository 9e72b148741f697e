/**
 * Applies an update to a payment's status. Source: docs/decisions/version.md, docs/decisions/processor-updates.md.
 * @module
 */
import type { ProcessorUpdate } from '@payment-integration/contract'
import { copyInvoice, copyRecipient } from './merchant.js'
import type { PaymentStatus } from './record.js'
import { decideTransition } from './transition.js'

/** The outcome of an update on one payment. */
export type Change =
  | { readonly kind: 'applied'; readonly status: PaymentStatus }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Applies an update as a whole. An absent field is unchanged, null clears it. A refused state refuses the merchant data
 * too. Every accepted change adds exactly 1 to the version.
 */
export function changeStatus(
  status: PaymentStatus,
  update: Pick<ProcessorUpdate, 'state' | 'recipient' | 'invoice'>,
): Change {
  const state = update.state === undefined ? status.state : update.state
  const recipient = update.recipient === undefined ? status.recipient : copyRecipient(update.recipient)
  const invoice = update.invoice === undefined ? status.invoice : copyInvoice(update.invoice)
  const decision = decideTransition(status.state, state)
  if (decision === 'refused') return { kind: 'refused', reason: `state ${status.state} cannot become ${state}` }
  if (decision === 'same' && sameFields(recipient, status.recipient) && sameFields(invoice, status.invoice))
    return { kind: 'unchanged' }
  return { kind: 'applied', status: { version: status.version + 1, state, recipient, invoice } }
}

function sameFields<T extends object>(a: T | null, b: T | null): boolean {
  if (a === null || b === null) return a === b
  return (Object.keys(a) as (keyof T)[]).every((key) => a[key] === b[key])
}
