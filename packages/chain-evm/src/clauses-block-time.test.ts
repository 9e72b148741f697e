/** `blockTimestamp` on a real node, whose block times the test sets. Source: docs/interface.md 2.1. */
import { encodeFunctionData, stringToHex } from 'viem'
import { expect, test } from 'vitest'
import { readAll } from '../test/read-all.js'
import { payer, startTestChain } from '../test/test-chain.js'
import { devRouter } from './dev/contracts.generated.js'
import { createEvmChain } from './evm-chain.js'
import { nativeTokenAddress } from './native-token.js'

test('a payment has the time of its own block, in milliseconds, not that of another block or of the clock', async () => {
  const node = await startTestChain()
  try {
    const router = await node.deploy(devRouter, ['0x00000000000000000000000000000000000000fe'])
    const args = [stringToHex('order-1', { size: 32 }), 1n, nativeTokenAddress, payer] as const
    const data = encodeFunctionData({ abi: devRouter.abi, functionName: 'pay', args })
    const times = [1_800_000_017, 1_800_000_018, 1_900_000_000]
    const heights: number[] = []
    for (const time of times) {
      await node.rpc('evm_setNextBlockTimestamp', time)
      heights.push((await node.execute({ to: router, data, value: 1n })).blockNumber)
    }
    await node.rpc('evm_setNextBlockTimestamp', 2_000_000_000)
    const head = await node.mine()
    const chain = createEvmChain({
      chainId: 31337,
      rpcUrl: node.rpcUrl,
      routers: [{ address: router, version: '0.8' }],
    })
    const { payments } = await readAll(chain, 0, head)
    expect(payments.map(({ blockNumber }) => blockNumber)).toEqual(heights)
    expect(payments.map(({ blockTimestamp }) => blockTimestamp)).toEqual(times.map((time) => time * 1_000))
  } finally {
    await node.stop()
  }
})
