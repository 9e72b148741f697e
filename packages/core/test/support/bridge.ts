import type { BridgeDeposit, Fulfilment } from '../../src/ports/chain.js'
import { hashOf, paymentFacts } from './stored-payment.js'

const arrived = { address: `0x${'c2'.repeat(20)}`, symbol: 'USDT', decimals: 18 }

/** A deposit on chain 1 for chain 10; its transaction's hash is made from `name`. */
export function bridgeDeposit(name: string, given: Partial<BridgeDeposit> = {}): BridgeDeposit {
  const payment = paymentFacts(name)
  return {
    ...{ payment, bridge: 'across', depositId: '7', destinationChainId: 10, receiver: payment.receiver },
    output: { token: arrived.address, amount: 900n },
    ...given,
  }
}

/** The fulfilment of that deposit; its transaction hash is made from `name`. */
export function getFulfilment(name: string, deposit: BridgeDeposit, given: Partial<Fulfilment> = {}): Fulfilment {
  return {
    ...{ chainId: deposit.destinationChainId, txHash: hashOf(`fill ${name}`), logIndex: 5, blockNumber: 200 },
    ...{ blockHash: hashOf('block 200'), blockTimestamp: Date.UTC(2026, 0, 2), receiver: deposit.receiver },
    tokenOut: { ...arrived, amount: deposit.output.amount },
    listedToken: { symbol: 'USDT', currency: 'USD' },
    ...given,
  }
}
