/** The states of a payment. Source: docs/interface.md 3. @module */
import * as z from 'zod/mini'
import { type Mode, type OpenEnum, openEnum } from './primitives.js'

/** Every payment state, in the order of docs/interface.md 3. A payment without a stored state has `null`. */
export const paymentStates = [
  'pending',
  'success',
  'failure',
  'refund_pending',
  'refund_success',
  'refund_failure',
] as const

export type PaymentState = (typeof paymentStates)[number]

export const paymentState = z.enum(paymentStates)

/** A payment state for reading: one of the states, or an unknown value of a newer service. */
export type OpenPaymentState = OpenEnum<PaymentState>

/** The schema of a state: writing allows only known states; reading allows any that is not empty. */
export function buildStateSchema<M extends Mode>(mode: M) {
  const schema = mode === 'write' ? paymentState : openEnum(paymentState, z.string().check(z.minLength(1)))
  return schema as unknown as z.ZodMiniType<M extends 'write' ? PaymentState : OpenPaymentState>
}
