import { getEventListeners } from 'node:events'
import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ManualClock, manualClock } from '../../test/manual-clock.js'
import { NodeError, plain, type ScriptedNode, scriptedNode } from '../../test/scripted-node.js'
import { until } from '../../test/scripted-nodes.js'
import { createFailures } from './failures.js'
import { createRpc, type RequestEnd, type Rpc } from './json-rpc.js'
import { createSocketWire } from './socket-wire.js'
import type { Wire } from './wire.js'

const call = (method: string, ...params: unknown[]) => ({ method, params })
const heights = (count: number) => Array.from({ length: count }, (_, index) => call('echo', index))
const requestTimeoutMs = 5_000

let node: ScriptedNode
let wire: Wire
let rpc: Rpc
let clock: ManualClock
let ends: RequestEnd[]
beforeEach(async () => {
  node = await scriptedNode((asked) => (asked.method === 'echo' ? asked.params[0] : plain(asked)))
  clock = manualClock()
  ends = []
  wire = createSocketWire({ url: `${node.wsUrl}/v2/k3y`, maxResponseBytes: 10_000, clock })
  rpc = open(wire)
})
afterEach(async () => {
  wire.close()
  await node.close()
})
const open = (over: Wire) =>
  createRpc(createFailures(1), {
    ...{ wire: over, url: node.wsUrl, clock, requestTimeoutMs, batchSize: () => 100 },
    ...{ beforeRequest: async () => null, mayRepeat: () => false },
    onEnd: (end) => ends.push(end),
  })
const kinds = () => ends.map(({ kind }) => kind)

test('calls and batches go over one connection, also at the same time', async () => {
  const answers = await Promise.all([
    rpc.call(call('echo', 'a')),
    rpc.callAll(heights(250)),
    rpc.call(call('echo', 'b')),
  ])
  expect(answers).toEqual(['a', Array.from({ length: 250 }, (_, index) => index), 'b'])
  expect(node.sockets).toHaveLength(1)
  expect(node.requests.map(({ length }) => length).sort()).toEqual([1, 1, 100, 100, 50].sort())
})

test('answers are assigned by id, in any order', async () => {
  const heldAnswers: (() => void)[] = []
  node.ws = (socket, _, body) => heldAnswers.push(() => socket.send(body))
  const work = Promise.all([rpc.call(call('echo', 'a')), rpc.call(call('echo', 'b')), rpc.callAll(heights(3))])
  await until(() => heldAnswers.length === 3)
  for (const answer of heldAnswers.reverse()) answer()
  expect(await work).toEqual(['a', 'b', [0, 1, 2]])
})

test('a request that is answered or cut no longer listens to its signal, which may outlive it', async () => {
  const { signal } = new AbortController()
  for (let times = 0; times < 20; times += 1) await wire.send([call('echo', times)], signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  node.ws = (socket) => socket.terminate()
  await expect(wire.send([call('echo', 'cut')], signal)).rejects.toThrow()
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('messages that answer no request are ignored', async () => {
  node.ws = (socket, _, body) => {
    socket.send('{"jsonrpc":"2.0","method":"eth_subscription","params":{}}')
    socket.send('{"jsonrpc":"2.0","id":9999,"result":"of nobody"}')
    socket.send('7')
    socket.send(body)
  }
  expect(await rpc.call(call('echo', 'mine'))).toBe('mine')
})

test('errors are answers; one without an id belongs to the only request', async () => {
  node.answer = () => {
    throw new NodeError(-32_000, 'header not found')
  }
  expect(await rpc.askAll([call('echo')])).toEqual([{ ok: false, code: -32_000, message: 'header not found' }])
  node.ws = (socket) => socket.send('{"id":null,"error":{"code":-32600,"message":"batch too large"}}')
  expect(await rpc.askAll(heights(2))).toMatchObject([{ code: -32_600 }, { code: -32_600 }])
})

describe('an unusable answer rejects, and the next request has a new connection', () => {
  test('cut JSON', async () => {
    node.ws = (socket) => socket.send('{"jsonrpc":"2.0","id":1,"res')
    await expect(rpc.call(call('echo', 1))).rejects.toThrow('Chain 1 cannot be read: echo: the answer is not JSON.')
    expect(kinds()).toEqual(['lost'])
    node.ws = null
    expect(await rpc.call(call('echo', 2))).toBe(2)
    expect(node.sockets).toHaveLength(2)
  })

  test('more bytes than its calls allow, on a connection that stays open', async () => {
    const large = createSocketWire({ url: node.wsUrl, maxResponseBytes: 1_000_000, clock })
    node.answer = () => `0x${'a'.repeat(65_536)}`
    const signal = new AbortController().signal
    await expect(large.send([call('eth_call')], signal)).rejects.toThrow('the answer is larger than 65536 bytes')
    expect(await large.send([call('eth_getLogs')], signal)).toMatchObject([{ ok: true }])
    expect(node.sockets).toHaveLength(1)
    large.close()
  })

  describe('a message larger than any pending answer is not parsed', () => {
    const text = 'a'.repeat(70_000)
    const signal = new AbortController().signal
    let large: Wire
    beforeEach(() => {
      large = createSocketWire({ url: node.wsUrl, maxResponseBytes: 1_000_000, clock })
    })
    afterEach(() => large.close())
    const answering = (body: (id: number) => string) => {
      node.ws = (socket, calls) => socket.send(body(calls[0]?.id ?? 0))
    }

    test.each<[string, string, (id: number) => string]>([
      ['whose number is at its beginning', 'eth_call', (id) => `{"jsonrpc":"2.0","id":${id},"result":"${text}`],
      ['whose number is at its end', 'eth_call', (id) => `{"jsonrpc":"2.0","result":${text},"id":${id}}`],
      ['whose number is text, after spaces', 'eth_call', (id) => `[ {"id" : "${id}", "result":"${text}`],
      ['if it is an error of any call', 'eth_getLogs', (id) => `{"id":${id},"error":{"code":-32000,"message":"${text}`],
    ])('and ends its request alone, %s', async (_, method, body) => {
      answering(body)
      await expect(large.send([call(method)], signal)).rejects.toThrow('the answer is larger than 65536 bytes')
      node.ws = null
      expect(await large.send([call('echo', 1)], signal)).toMatchObject([{ result: 1 }])
      expect(node.sockets).toHaveLength(1)
    })

    test('and is ignored if it answers an abandoned request', async () => {
      const heldAnswers: (() => void)[] = []
      node.ws = (socket, [asked]) =>
        asked?.method === 'eth_getLogs' &&
        heldAnswers.push(() => socket.send(`{"jsonrpc":"2.0","id":${asked.id},"result":"${text}`))
      const controller = new AbortController()
      void large.send([call('eth_getLogs')], controller.signal).catch(() => undefined)
      await until(() => heldAnswers.length === 1)
      controller.abort()
      for (const answer of heldAnswers) answer()
      node.answer = () => '0x1'
      for (let times = 0; times < 2; times += 1)
        expect(await large.send([call('eth_chainId')], signal)).toMatchObject([{ result: '0x1' }])
      expect(node.sockets).toHaveLength(1)
    })

    test('and ends the connection if it has no id', async () => {
      answering(() => `{"method":"eth_subscription","params":"${text}`)
      await expect(large.send([call('eth_call')], signal)).rejects.toThrow('the answer is larger than 65536 bytes')
    })
  })

  test('a connection that breaks during requests', async () => {
    node.ws = (socket) => socket.terminate()
    const work = await Promise.allSettled([rpc.call(call('echo', 1)), rpc.callAll(heights(3))])
    expect(work.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    node.ws = null
    expect(await rpc.call(call('echo', 2))).toBe(2)
  })

  test('a connection that is silent until the time-out', async () => {
    node.ws = () => true
    const work = rpc.call(call('echo', 1)).catch((error: unknown) => error)
    await until(() => node.requests.length === 1)
    await clock.advance(requestTimeoutMs)
    expect(await work).toMatchObject({ message: expect.stringContaining('no answer within 5000 ms') })
    node.ws = null
    expect(await rpc.call(call('echo', 2))).toBe(2)
    expect(node.sockets).toHaveLength(2)
  })
})

test('the request after an idle connection closed rejects as stale, and the next one has a new connection', async () => {
  expect(await rpc.call(call('echo', 1))).toBe(1)
  node.sockets[0]?.close()
  await until(() => node.sockets[0]?.readyState === 3)
  const [result] = await Promise.allSettled([wire.send([call('echo', 2)], new AbortController().signal)])
  expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StaleConnectionError' } })
  expect(node.sockets).toHaveLength(1)
  expect(await rpc.call(call('echo', 3))).toBe(3)
  node.sockets[1]?.close()
  await until(() => node.sockets[1]?.readyState === 3)
  expect(await rpc.call(call('echo', 4))).toBe(4)
  expect(kinds()).toEqual(['answered', 'answered', 'reconnects', 'answered'])
  expect(node.sockets).toHaveLength(3)
})

test('a connection that answers others outlives a request without an answer', async () => {
  node.ws = (_socket, calls) => calls[0]?.params[0] === 'hang'
  const work = rpc.call(call('echo', 'hang')).catch((error: unknown) => error)
  expect(await rpc.call(call('echo', 1))).toBe(1)
  await clock.advance(requestTimeoutMs)
  expect(await work).toMatchObject({ message: expect.stringContaining('no answer within 5000 ms') })
  expect(await rpc.call(call('echo', 2))).toBe(2)
  expect(node.sockets).toHaveLength(1)
})

test('an unreachable node is tried at growing intervals', async () => {
  const { close } = node
  await close()
  const at: number[] = []
  const startedAt = clock.now()
  for (let passed = 0; passed <= 4_000; passed += 50) {
    const error = await rpc.call(call('echo', 1)).catch((reason: Error) => reason.message)
    if (error !== 'Chain 1 cannot be read: echo: no connection.') at.push(clock.now() - startedAt)
    await clock.advance(50)
  }
  expect(at).toEqual([0, 50, 300, 800, 1_800, 3_800])
})

test('a rejected handshake reports its status, and 429 is a rate limit', async () => {
  const statuses = [403, 429]
  const server = createServer()
  server.on('upgrade', (_request, socket) => {
    socket.end(`HTTP/1.1 ${statuses.shift()} no\r\nretry-after: 3\r\ncontent-length: 0\r\n\r\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const other = createSocketWire({ url: `ws://127.0.0.1:${port}`, maxResponseBytes: 10_000, clock })
  const asking = open(other)
  await expect(asking.call(call('echo', 1))).rejects.toThrow('HTTP status 403')
  await expect(asking.call(call('echo', 1))).rejects.toThrow('HTTP status 429')
  expect(ends).toMatchObject([{ kind: 'lost' }, { kind: 'limited', retryAfter: '3' }])
  other.close()
  await new Promise((resolve) => server.close(resolve))
})

test('a closed wire does not connect', async () => {
  expect(await rpc.call(call('echo', 1))).toBe(1)
  wire.close()
  await expect(rpc.call(call('echo', 2))).rejects.toThrow('no connection')
  expect(node.sockets).toHaveLength(1)
  await until(() => node.sockets[0]?.readyState === 3)
})
