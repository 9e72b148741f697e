/** A deposit as the chain port returns it. @module */
import type { BridgeDeposit, PaymentFacts } from '@payment-integration/core/ports'

const token = { address: `0x${'c1'.repeat(20)}`, symbol: 'USDC', decimals: 6 }

/** Deposits 500 units on chain 10, of which 490 must arrive on chain 31337. */
export function bridgeDeposit(
  given: Partial<Omit<BridgeDeposit, 'payment'>> & { readonly payment?: Partial<PaymentFacts> } = {},
): BridgeDeposit {
  const txHash = `0x${'d1'.repeat(32)}`
  const receiver = `0x${'b1'.repeat(20)}`
  return {
    bridge: 'across',
    depositId: '77',
    destinationChainId: 31337,
    receiver,
    output: { token: `0x${'c2'.repeat(20)}`, amount: 490n },
    ...given,
    payment: {
      chainId: 10,
      txHash,
      ordinal: 0,
      logIndex: 4,
      blockNumber: 1_000,
      blockHash: `0x${'d2'.repeat(32)}`,
      blockTimestamp: 1_700_000_000_000,
      router: { address: `0x${'f0'.repeat(20)}`, version: '0.8' },
      sender: `0x${'a1'.repeat(20)}`,
      receiver,
      memoHex: `0x${'01'.repeat(32)}`,
      integrationAddress: `0x${'aa'.repeat(20)}`,
      source: { chainId: 10, txHash },
      tokenIn: { ...token, amount: 500n },
      tokenOut: { ...token, gross: 500n, net: 500n },
      pricing: { listedToken: null, feeds: [], calledAmount: null, serviceFee: null },
      ...given.payment,
    },
  }
}
