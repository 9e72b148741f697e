/** A payment as the service stores it. @module */
import type { InvoiceBody, PaymentState, RecipientBody } from '@payment-integration/contract'
import type { PaymentFacts } from './facts.js'

/** The part of a payment that a processor changes and a snapshot carries. */
export interface PaymentStatus {
  /** 1 on first indexing; every accepted change adds 1. */
  readonly version: number
  readonly state: PaymentState | null
  readonly recipient: RecipientBody | null
  readonly invoice: InvoiceBody | null
}

/** The status of a newly indexed payment. */
export const initialStatus: PaymentStatus = { version: 1, state: null, recipient: null, invoice: null }

/**
 * A stored payment. Area (a) shows the `primary` one: the lowest ordinal of its transaction among the payments that
 * name the same integration (or none). Only primary payments change their state.
 */
export interface StoredPayment extends PaymentFacts, PaymentStatus {
  /** The store's own key: opaque, never shown outside. */
  readonly id: string
  readonly primary: boolean
  /** True after its block left the chain, until another block contains the payment. */
  readonly offChain: boolean
  /**
   * Set once the height of its former block is final and no block contains it: its state became `failure`. Should the
   * payment return to the chain, `formerState` is restored. Source: docs/decisions/reorganisations.md.
   */
  readonly dropped: { readonly formerState: PaymentState | null } | null
}
