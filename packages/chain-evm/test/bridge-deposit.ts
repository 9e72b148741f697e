/** A deposit as the chain port returns it. @module */
import type { BridgeDeposit, PaymentFacts } from '@payment-integration/core/ports'
import { paymentFacts } from '../../core/test/support/stored-payment.js'

/** Deposits a payment of chain 1, of which 490 units must arrive on chain 31337. */
export function bridgeDeposit(
  given: Partial<Omit<BridgeDeposit, 'payment'>> & { readonly payment?: Partial<PaymentFacts> } = {},
): BridgeDeposit {
  const payment = paymentFacts('deposit', given.payment)
  return {
    bridge: 'across',
    depositId: '77',
    destinationChainId: 31337,
    receiver: payment.receiver,
    output: { token: `0x${'c2'.repeat(20)}`, amount: 490n },
    ...given,
    payment,
  }
}
