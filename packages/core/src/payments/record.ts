/** A payment as the service keeps it. @module */
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

/** The status of a payment that was just indexed. */
export const initialStatus: PaymentStatus = { version: 1, state: null, recipient: null, invoice: null }

/**
 * A stored payment. `primary` is the one that area (a) shows: the lowest ordinal of its transaction among the payments
 * that name the same integration (or none). Only primary payments have states that change.
 */
export interface StoredPayment extends PaymentFacts, PaymentStatus {
  /** The store's own key: opaque, never shown outside. */
  readonly id: string
  readonly primary: boolean
  /** True while the block that held it has left the chain and no block that was read since holds it. */
  readonly offChain: boolean
  /**
   * Set once the height of the block that it left is final and no block holds it: its state became `failure`, and comes
   * back with it should it return. Source: docs/decisions/reorganisations.md.
   */
  readonly dropped: { readonly formerState: PaymentState | null } | null
}
