/** A chain of blocks: a test decides the payments of each. What is mined after a drop is another branch. */
import type { PaymentFacts } from '@payment-integration/core/ports'
import { fakeChain } from '../../../core/test/support/fake-chain.js'
import { facts } from './index-payments.js'

/** A test's choices about a payment. The block decides some fields; every other one has a default. */
export type MinedPayment = Partial<
  Omit<PaymentFacts, 'chainId' | 'blockNumber' | 'blockHash' | 'blockTimestamp' | 'logIndex'>
>

const genesisTime = Date.UTC(2026, 0, 2, 3, 4, 5)

/** One block per second, unless a test names the time of a block itself. */
export function listedChain(chainId: number) {
  const times = new Map<number, number>()
  const chain = fakeChain(chainId, (height) => times.get(height) ?? genesisTime + height * 1_000)
  chain.routers = [facts().router.address]
  return {
    chain,
    mine(payments: readonly MinedPayment[], timestamp?: number) {
      const height = chain.height() + 1
      times.delete(height)
      if (timestamp !== undefined) times.set(height, timestamp)
      chain.mine(1, () => payments.map((payment) => ({ name: 'listed', ...getFacts({ ...payment, chainId }) })))
    },
    drop(count: number) {
      chain.drop(count)
      chain.fork(0)
    },
  }
}

/** Without what the block decides. */
function getFacts(payment: Partial<PaymentFacts>) {
  const { blockNumber, blockHash, blockTimestamp, logIndex, ...rest } = facts(payment)
  return rest
}
