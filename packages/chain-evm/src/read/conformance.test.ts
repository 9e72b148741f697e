/** The suites of core on a real node: a chain, a receipt source, a fulfillment source. */
import {
  chainConformance,
  fulfillmentSourceConformance,
  receiptSourceConformance,
} from '@payment-integration/testing/conformance'
import { bridgedOf, fillLog } from '../../test/across-logs.js'
import { bridgeDeposit } from '../../test/bridge-deposit.js'
import { testRouter } from '../../test/contracts.generated.js'
import { emits } from '../../test/conversion-chain.js'
import { readStored } from '../../test/read-all.js'
import { payData, receiver, startTestChain } from '../../test/test-chain.js'
import { createAcrossFulfillmentSource } from '../bridge/across-fulfillment-source.js'
import { devRouter, devToken } from '../dev/contracts.generated.js'
import { createEvmChain } from '../evm-chain.js'
import { createChainReceiptSource } from './chain-receipt-source.js'

const chainId = 31337

async function openNode() {
  const node = await startTestChain()
  const router = await node.deploy(devRouter, [receiver])
  const routers = [
    { address: router, version: '0.8' },
    { address: await node.deploy(testRouter), version: '0.6' },
  ]
  const chain = createEvmChain({ chainId, rpcUrl: node.rpcUrl, routers, requestTimeoutMs: 600_000 })
  return { node, chain, payment: { to: router, data: payData(5n), value: 5n } }
}

chainConformance('chain-evm', async () => {
  const { node, chain, payment } = await openNode()
  return {
    chain,
    async mine(payments) {
      for (let count = 0; count < payments; count += 1) await node.send(payment)
      await node.mine()
    },
    async replaceNewest() {
      await node.rpc('anvil_reorg', 1, [])
    },
    async close() {
      chain.close()
      await node.stop()
    },
  }
})

receiptSourceConformance('chain-evm', async () => {
  const { node, chain, payment } = await openNode()
  const { blockNumber } = await node.execute(payment)
  const settled = await readStored(chain, blockNumber)
  return {
    source: createChainReceiptSource({ chains: new Map([[chainId, chain]]), confirmations: { [chainId]: 0 } }),
    settled,
    unknown: { ...settled, txHash: `0x${'12'.repeat(32)}` },
    cutOff: () => node.stop(),
    close: () => chain.close(),
  }
})

fulfillmentSourceConformance('across', async () => {
  const node = await startTestChain()
  const pool = await node.deploy(testRouter)
  const token = await node.deploy(devToken, ['ARRIVED', 6])
  const { timestamp } = await node.block()
  const payment = { blockTimestamp: Number(timestamp) * 1_000 }
  const output = { token, amount: 490n }
  const fulfilled = bridgeDeposit({ depositId: '7', output, payment })
  await node.execute({ to: pool, data: emits(fillLog('FilledRelay', bridgedOf(fulfilled))) })
  const destination = { nodes: [{ url: node.rpcUrl }], spokePool: pool, confirmations: 0 }
  return {
    source: createAcrossFulfillmentSource({ chains: new Map([[chainId, destination]]) }),
    fulfilled,
    waiting: bridgeDeposit({ depositId: '8', output, payment }),
    cutOff: () => node.stop(),
    close: () => undefined,
  }
})
