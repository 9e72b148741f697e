import { systemClock } from '@payment-integration/core'
import { http, webSocket } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startTestChain, type TestChain } from '../../test/test-chain.js'
import type { Endpoints } from '../internal/endpoints.js'
import { createEndpoints, type EndpointAddress } from './create-endpoints.js'

let chain: TestChain
let wsUrl: string
let opened: Endpoints | undefined
beforeAll(async () => {
  chain = await startTestChain()
  wsUrl = chain.rpcUrl.replace('http:', 'ws:')
  await chain.mine(250)
})
afterEach(() => opened?.close())
afterAll(() => chain?.stop())
function open(...endpoints: EndpointAddress[]): Endpoints {
  opened = createEndpoints({ chainId: 31_337, endpoints, clock: systemClock })
  return opened
}
const header = (number: number) => ({ method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, false] })
const headers = Array.from({ length: 250 }, (_, number) => header(number))

test.each([
  ['HTTP', () => ({ url: chain.rpcUrl })],
  ['WebSocket', () => ({ url: wsUrl })],
  ['a viem transport over HTTP', () => ({ transport: http(chain.rpcUrl) })],
] as const)('anvil answers batches over %s, in order and as one chain', async (_, address) => {
  const blocks = (await open(address()).pinned(({ rpc }) => rpc.all(headers))) as {
    number: string
    hash: string
    parentHash: string
  }[]
  expect(blocks.map(({ number }) => Number(number))).toEqual(headers.map((_call, number) => number))
  for (const [at, block] of blocks.entries()) if (at > 0) expect(block.parentHash).toBe(blocks[at - 1]?.hash)
})

test('a viem transport over WebSocket works as well', async () => {
  const transport = webSocket(wsUrl)
  const endpoints = open({ transport })
  expect(await endpoints.pinned(({ rpc }) => rpc.call({ method: 'eth_chainId', params: [] }))).toBe('0x7a69')
  // viem has no other end; it would connect again, and print that it cannot, once anvil has stopped.
  ;(await transport({}).value?.getRpcClient())?.close()
})

test('a call that anvil refuses is a JSON-RPC error of that call alone', async () => {
  const unknown = { method: 'eth_noSuchMethod', params: [] }
  const outcomes = await open({ url: wsUrl }).pinned(({ rpc }) => rpc.askAll([header(1), unknown]))
  expect(outcomes.map(({ ok }) => ok)).toEqual([true, false])
})

test('each mined block wakes, over a subscription beside HTTP, and the subscription ends with its signal', async () => {
  const endpoints = open({ url: chain.rpcUrl, headsUrl: wsUrl })
  const controller = new AbortController()
  let woken = () => {}
  const watching = endpoints.watch(() => woken(), controller.signal)
  let seen = 0
  for (let block = 0; block < 5; block++) {
    const wake = new Promise<void>((resolve) => {
      woken = resolve
    })
    // The first blocks may come before the subscription; one of them is the first that wakes.
    let height = await chain.mine()
    while (seen === 0 && !(await Promise.race([wake.then(() => true), systemClock.sleep(50).then(() => false)])))
      height = await chain.mine()
    await wake
    seen += 1
    expect(endpoints.status()[0]?.head).toBe(height)
  }
  controller.abort()
  await watching
  expect(seen).toBe(5)
})
