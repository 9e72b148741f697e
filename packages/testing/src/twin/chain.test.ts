import { chainConformance } from '@payment-integration/testing/conformance'
import { createDraws } from '../builders.js'
import { buildPayment, createTwinChain } from './chain.js'

chainConformance('the chain of a twin', async () => {
  const draws = createDraws(7)
  const chain = createTwinChain(137, { clock: { now: () => 0 }, newHash: () => draws.hex(32), stepMs: 1_000 })
  return {
    chain,
    async mine(payments) {
      chain.mine(
        Array.from({ length: payments }, () => buildPayment({ chainId: 137, integrationAddress: null }, draws)),
      )
    },
    async replaceNewest() {
      chain.orphan(1)
      chain.mine()
    },
    close: () => undefined,
  }
})
