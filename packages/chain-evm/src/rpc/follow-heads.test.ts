import { http } from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ManualClock, manualClock } from '../../test/manual-clock.js'
import { NodeError, plain, type ScriptedNode, scriptedNode } from '../../test/scripted-node.js'
import { until } from '../../test/scripted-nodes.js'
import { createNodes, type Nodes, type NodesOptions } from './nodes.js'

let node: ScriptedNode
let clock: ManualClock
let controller: AbortController
let nodes: Nodes
let watching: Promise<void>
let wakes: number
beforeEach(async () => {
  node = await scriptedNode((call) => (call.method === 'eth_subscribe' ? '0xsub' : plain(call)))
  clock = manualClock()
  controller = new AbortController()
  wakes = 0
})
afterEach(async () => {
  controller.abort()
  await watching
  nodes.close()
  await node.close()
})
function watch(options: Partial<NodesOptions> = {}): void {
  const addresses = [{ url: node.url, headsUrl: node.wsUrl }]
  nodes = createNodes({ chainId: 31_337, nodes: addresses, clock, requestTimeoutMs: 5_000, ...options })
  watching = nodes.watch(() => {
    wakes += 1
  }, controller.signal)
}
function headMessage(number: number, subscription = '0xsub'): string {
  const params = { subscription, result: { number: `0x${number.toString(16)}` } }
  return JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
}
const send = (number: number) => node.sockets.at(-1)?.send(headMessage(number))
const poll = (number: number) => nodes.runPinned(async (node) => node.note({ kind: 'head', number }))
/** Waits until the next connection waits; resolves for how long, in milliseconds. */
async function waiting(): Promise<number> {
  await until(() => clock.sleepers().length === 1 && clock.sleepers()[0] !== 5_000)
  return clock.sleepers()[0] ?? 0
}
const subscribed = (times: number) => until(() => node.asked('eth_subscribe') === times)
async function watchSubscribed(options?: Partial<NodesOptions>): Promise<void> {
  watch(options)
  await subscribed(1)
}
/** Sends a head, and waits until it wakes. */
async function announce(number: number): Promise<void> {
  const before = wakes
  send(number)
  await until(() => wakes === before + 1)
}

test('a WebSocket URL announces heads too', async () => {
  await watchSubscribed({ nodes: [{ url: node.wsUrl }] })
  await announce(101)
})

test('without a node that announces heads it ends at once', async () => {
  watch({ nodes: [{ url: node.url }, { url: 'no URL', transport: http(node.url) }] })
  await watching
  expect(node.requests).toEqual([])
})

test('a head that arrives with the answer counts; other messages do not wake', async () => {
  node.ws = (socket, calls, body) => {
    if (calls[0]?.method !== 'eth_subscribe') return false
    socket.send(headMessage(101))
    socket.send(body)
    socket.send(headMessage(102, '0xother'))
    socket.send('{"method":"eth_subscription"}')
    socket.send('{"method":"eth_subscription","params":{"subscription":"0xsub","result":{"number":"many"}}}')
    socket.send('null')
    return socket.send(headMessage(103))
  }
  watch()
  await until(() => nodes.status()[0]?.head === 103)
  expect(wakes).toBe(2)
})

test('at most 16 messages are kept until the subscription is answered', async () => {
  node.ws = (socket, calls, body) => {
    if (calls[0]?.method !== 'eth_subscribe') return false
    for (let head = 101; head <= 120; head++) socket.send(headMessage(head))
    return socket.send(body)
  }
  watch()
  await until(() => wakes > 0)
  expect(wakes).toBe(16)
})

test('only a subscription that is silent while polling sees new heads is renewed', async () => {
  await watchSubscribed()
  await announce(101)
  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000)
    await poll(101)
  }
  expect(node.sockets).toHaveLength(1)
  await poll(102)
  await clock.advance(9_999)
  await poll(103)
  expect(node.sockets).toHaveLength(1)
  await clock.advance(1)
  await poll(103)
  await clock.advance(await waiting())
  await subscribed(2)
  expect(node.sockets).toHaveLength(2)
  await until(() => node.sockets[0]?.readyState === 3)
  await announce(104)
})

test.each([[[1_000_000]], [[1_000_000, 101]]])('a subscription silent after heads %j is renewed', async (heads) => {
  await watchSubscribed()
  for (const head of heads) await announce(head)
  await poll(102)
  await clock.advance(10_000)
  await poll(103)
  await clock.advance(await waiting())
  await subscribed(2)
})

test.each([
  ['rejects to subscribe', 'eth_subscribe', new NodeError(-32_601, 'no such method')],
  ['is on another chain', 'eth_chainId', '0x1'],
])('a node that %s is tried at growing intervals, and does not wake', async (_, method, answer) => {
  node.answer = (call) => {
    if (call.method !== method) return call.method === 'eth_subscribe' ? '0xsub' : plain(call)
    if (answer instanceof NodeError) throw answer
    return answer
  }
  watch()
  const waits: number[] = []
  for (let round = 0; round < 5; round++) {
    waits.push(await waiting())
    expect(node.sockets).toHaveLength(round + 1)
    await clock.advance(waits.at(-1) ?? 0)
    await until(() => node.sockets.length === round + 2)
  }
  expect(waits).toEqual([250, 250, 500, 1_000, 2_000])
  expect(wakes).toBe(0)
})

describe('blocks count as announced', () => {
  test('from the first head that polling confirms, until polling finds one that was not announced', async () => {
    await watchSubscribed()
    await poll(100)
    expect(nodes.announcesBlocks()).toBe(false)
    await announce(101)
    // The node that is read does not have the block yet.
    expect(nodes.announcesBlocks()).toBe(false)
    await poll(101)
    expect(nodes.announcesBlocks()).toBe(true)
    await poll(102)
    expect(nodes.announcesBlocks()).toBe(false)
    await announce(102)
    expect(nodes.announcesBlocks()).toBe(true)
  })

  test('no longer when the connection ends, which wakes, nor on the next one before it announces a head', async () => {
    await watchSubscribed()
    await announce(101)
    await poll(101)
    node.sockets[0]?.terminate()
    await until(() => wakes === 2)
    expect(nodes.announcesBlocks()).toBe(false)
    expect(await waiting()).toBe(250)
    await clock.advance(250)
    await subscribed(2)
    await poll(101)
    expect(nodes.announcesBlocks()).toBe(false)
    await announce(102)
    await poll(102)
    expect(nodes.announcesBlocks()).toBe(true)
  })
})

test('a subscription without an answer ends at the time-out', async () => {
  node.ws = (_socket, calls) => calls[0]?.method === 'eth_subscribe'
  await watchSubscribed()
  await clock.advance(5_000)
  node.ws = null
  await clock.advance(await waiting())
  await subscribed(2)
  await announce(101)
})

test('it ends with the signal: no connection and no timer is left', async () => {
  await watchSubscribed()
  controller.abort()
  await watching
  await until(() => node.sockets[0]?.readyState === 3)
  expect(clock.sleepers()).toEqual([])
})
