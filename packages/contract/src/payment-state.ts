/** The states of a payment. Source: INTERFACE 3. @module */
import * as z from 'zod/mini'

/** Every payment state, in the order of INTERFACE 3. A payment without a stored state has `null`. */
export const paymentStates = [
  'pending',
  'success',
  'failure',
  'refund_pending',
  'refund_success',
  'refund_failure',
] as const

/** One of the six payment states. */
export type PaymentState = (typeof paymentStates)[number]

/** Schema of {@link PaymentState}. */
export const paymentState = z.enum(paymentStates)
