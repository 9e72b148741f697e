/** The payment that a call sent straight to a router made. @module */
import type { DirectPayment, Emitted } from './conversion-pairs.js'
import type { TransactionFacts } from './internal/answers.js'
import type { DecodedPayment, RouterCall } from './router-decoder.js'

/**
 * Finds the payment whose sender, receiver, token and memo are the arguments of the call. A call without a sender
 * argument has the transaction's.
 * @returns Null when none or several fit.
 */
export function calledPayment(
  { from, to }: TransactionFacts,
  call: RouterCall,
  payments: readonly Emitted<DecodedPayment>[],
): DirectPayment | null {
  const [only, ...others] = payments.filter(
    ({ router, event }) =>
      router === to &&
      event.sender === (call.sender ?? from) &&
      event.receiver === call.receiver &&
      event.memoHex === call.memoHex &&
      (call.token === null || event.token === call.token),
  )
  return only === undefined || others.length > 0 ? null : { router: only.router, call, payment: only.event }
}
