import { systemClock } from '@payment-integration/core'
import { http, webSocket } from 'viem'
import { expect, onTestFinished, test } from 'vitest'
import { useTestChain } from '../../test/test-chain.js'
import { createNodes, type NodeAddress, type Nodes } from './nodes.js'

const chain = await useTestChain()
const wsUrl = chain.rpcUrl.replace('http:', 'ws:')
await chain.mine(250)
function open(...nodes: NodeAddress[]): Nodes {
  const opened = createNodes({ chainId: 31_337, nodes, clock: systemClock, requestTimeoutMs: 600_000 })
  onTestFinished(() => opened.close())
  return opened
}
const header = (number: number) => ({ method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, false] })
const headers = Array.from({ length: 250 }, (_, number) => header(number))

test.each<[string, NodeAddress]>([
  ['HTTP', { url: chain.rpcUrl }],
  ['WebSocket', { url: wsUrl }],
  ['a viem transport over HTTP', { transport: http(chain.rpcUrl, { timeout: 600_000 }) }],
])('anvil answers batches over %s, in order and as one chain', async (_, address) => {
  const answers = await open(address).runPinned(({ rpc }) => rpc.callAll(headers))
  const blocks = answers as { number: string; hash: string; parentHash: string }[]
  expect(blocks.map(({ number }) => Number(number))).toEqual(headers.map((_call, number) => number))
  for (const [at, block] of blocks.entries()) if (at > 0) expect(block.parentHash).toBe(blocks[at - 1]?.hash)
})

test('a viem transport over WebSocket works as well', async () => {
  const transport = webSocket(wsUrl, { timeout: 600_000 })
  const nodes = open({ transport })
  expect(await nodes.runPinned(({ rpc }) => rpc.call({ method: 'eth_chainId', params: [] }))).toBe('0x7a69')
  // viem has no other end; it would connect again, and print that it cannot, once anvil has stopped.
  ;(await transport({}).value?.getRpcClient())?.close()
})
