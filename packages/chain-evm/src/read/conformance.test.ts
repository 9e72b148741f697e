/** The suites of core on a real node: a chain, a receipt source, a fulfilment source. */

import type { StoredPayment } from '@payment-integration/core/ports'
import {
  chainConformance,
  fulfilmentSourceConformance,
  receiptSourceConformance,
} from '@payment-integration/testing/conformance'
import { type Address, encodeFunctionData } from 'viem'
import { fillLog } from '../../test/across-logs.js'
import { bridgeDeposit } from '../../test/bridge-deposit.js'
import { testRouter } from '../../test/contracts.generated.js'
import { emits } from '../../test/conversion-chain.js'
import { readAll } from '../../test/read-all.js'
import { startTestChain } from '../../test/test-chain.js'
import { createAcrossFulfilmentSource } from '../bridge/across-fulfilment-source.js'
import { encodeIntegrationSuffix } from '../decode/integrations.js'
import { nativeTokenAddress } from '../decode/router-decoder.js'
import { devRouter, devToken } from '../dev/contracts.generated.js'
import { createEvmChain } from '../evm-chain.js'
import { createChainReceiptSource } from './chain-receipt-source.js'

const chainId = 31337
const receiver: Address = '0x00000000000000000000000000000000000000b2'
const integration = '0x00000000000000000000000000000000000000aa'

async function openNode() {
  const node = await startTestChain()
  const router = await node.deploy(devRouter, [receiver])
  const routers = [
    { address: router, version: '0.8' },
    { address: await node.deploy(testRouter), version: '0.6' },
  ]
  const chain = createEvmChain({ chainId, rpcUrl: node.rpcUrl, routers })
  const args = [`0x${'00'.repeat(32)}`, 5n, nativeTokenAddress, receiver] as const
  const call = encodeFunctionData({ abi: devRouter.abi, functionName: 'pay', args })
  const payment = { to: router, data: `${call}${encodeIntegrationSuffix(integration).slice(2)}`, value: 5n }
  return { node, chain, payment }
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
  const [facts] = (await readAll(chain, blockNumber, blockNumber)).payments
  if (facts === undefined) throw new Error('The payment was not read.')
  const status = { version: 1, state: null, recipient: null, invoice: null, primary: true, offChain: false }
  const settled: StoredPayment = { ...facts, ...status, id: '1', dropped: null }
  return {
    source: createChainReceiptSource({ chains: new Map([[chainId, chain]]), confirmations: { [chainId]: 0 } }),
    settled,
    unknown: { ...settled, txHash: `0x${'12'.repeat(32)}` },
    cutOff: () => node.stop(),
    close: () => chain.close(),
  }
})

fulfilmentSourceConformance('across', async () => {
  const node = await startTestChain()
  const pool = await node.deploy(testRouter)
  const token = await node.deploy(devToken, ['ARRIVED', 6])
  const { timestamp } = await node.rpc<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
  const payment = { blockTimestamp: Number(timestamp) * 1_000 }
  const output = { token, amount: 490n }
  const fulfilled = bridgeDeposit({ depositId: '7', output, payment })
  const fill = fillLog('FilledRelay', {
    originChainId: BigInt(fulfilled.payment.chainId),
    destinationChainId: BigInt(chainId),
    depositId: 7n,
    depositor: fulfilled.payment.sender as Address,
    recipient: fulfilled.receiver as Address,
    inputToken: fulfilled.payment.tokenOut.address as Address,
    inputAmount: fulfilled.payment.tokenOut.gross,
    outputToken: token,
    outputAmount: 490n,
    message: '0x',
  })
  await node.execute({ to: pool, data: emits(fill) })
  const destination = { nodes: [{ url: node.rpcUrl }], spokePool: pool, confirmations: 0 }
  return {
    source: createAcrossFulfilmentSource({ chains: new Map([[chainId, destination]]) }),
    fulfilled,
    waiting: bridgeDeposit({ depositId: '8', output, payment }),
    cutOff: () => node.stop(),
    close: () => undefined,
  }
})
