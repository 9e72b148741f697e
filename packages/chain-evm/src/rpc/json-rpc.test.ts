import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { manualClock } from '../../test/manual-clock.js'
import { always, NodeError, plain, type ScriptedNode, scriptedNode } from '../../test/scripted-node.js'
import { createFailures, ResponseTooLargeError } from './failures.js'
import { createBodyBuffers, createHttpWire } from './http-wire.js'
import { createRpc, type RequestEnd, type RpcOptions } from './json-rpc.js'
import type { Wire } from './wire.js'

const call = (method: string, ...params: unknown[]) => ({ method, params })
const heights = (count: number) => Array.from({ length: count }, (_, index) => call('echo', index))

let node: ScriptedNode
let wire: Wire
let ends: RequestEnd[]
beforeEach(async () => {
  node = await scriptedNode((asked) => (asked.method === 'echo' ? asked.params[0] : plain(asked)))
  wire = createHttpWire({ url: node.url, maxResponseBytes: 10_000 })
  ends = []
})
afterEach(async () => {
  wire.close()
  await node.close()
})
const open = (options: Partial<RpcOptions> = {}) =>
  createRpc(createFailures(1), {
    ...{ wire, url: node.url, clock: manualClock(), requestTimeoutMs: 5_000, batchSize: () => 100 },
    ...{ beforeRequest: async () => null, mayRepeat: () => false },
    onEnd: (end) => ends.push(end),
    ...options,
  })
const kinds = () => ends.map(({ kind }) => kind)

test('one call is one request, many are batches, and one connection serves them all', async () => {
  const rpc = open({ batchSize: () => 10 })
  expect(await rpc.call(call('echo', 'a'))).toBe('a')
  expect(await rpc.callAll(heights(25))).toEqual(Array.from({ length: 25 }, (_, index) => index))
  expect(node.requests.map((request) => request.length)).toEqual([1, 10, 10, 5])
  expect(node.connections).toHaveLength(1)
  expect(kinds()).toEqual(['answered', 'answered', 'answered', 'answered'])
})

describe('an unusable answer rejects, counts as lost, and is described', () => {
  test.each([
    ['502 with HTML', 502, '<html>Bad gateway</html>', 'HTTP status 502'],
    ['a redirect, which is not followed', 302, '', 'HTTP status 302'],
    ['HTML with status 200', 200, '<html>Log in</html>', 'the answer is not JSON'],
    ['cut JSON', 200, '{"jsonrpc":"2.0","id":1,"res', 'the answer is not JSON'],
    ['null', 200, 'null', 'the answer is not JSON-RPC'],
    ['more bytes than allowed', 200, `{"result":"${'x'.repeat(10_000)}"}`, 'the answer is larger than 10000 bytes'],
    ['lists in lists', 200, `{"result":${'['.repeat(33)}`, 'the JSON is nested over 32 levels'],
  ])('%s', async (_, status, body, expected) => {
    node.http = always(status, body, { location: `${node.url}/elsewhere` })
    await expect(open().call(call('echo', 1))).rejects.toThrow(`Chain 1 cannot be read: echo: ${expected}.`)
    expect(kinds()).toEqual(['lost'])
    expect(node.requests).toHaveLength(1)
  })

  test('more bytes than allowed, without a length in front', async () => {
    node.http = (response) => {
      response.writeHead(200)
      for (let part = 0; part < 20; part++) response.write('x'.repeat(1_000))
    }
    await expect(open().call(call('echo', 1))).rejects.toThrow('the answer is larger than 10000 bytes')
  })

  test('a small compressed answer that is large uncompressed', async () => {
    node.http = (response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`"${'x'.repeat(10_000_000)}"`))
    await expect(open().call(call('echo', 1))).rejects.toThrow('the answer is larger than 10000 bytes')
  })

  test('truncated compressed bytes', async () => {
    node.http = (response, _, body) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body).subarray(0, 20))
    await expect(open().call(call('echo', 1))).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  })

  test('a body that ends before its length', async () => {
    node.http = (response) => {
      response.writeHead(200, { 'content-length': 500 })
      response.write('{"jsonrpc":"2.0","id":1,')
      setImmediate(() => response.destroy())
    }
    await expect(open().call(call('echo', 1))).rejects.toThrow('no connection (ECONNRESET)')
    expect(kinds()).toEqual(['lost'])
  })
})

describe('an answer is limited by its calls', () => {
  const text = (length: number) => `0x${'a'.repeat(length)}`
  const sized = (length: number) => {
    node.answer = ({ method }) => (method === 'eth_chainId' ? '0x1' : text(length))
    wire.close()
    wire = createHttpWire({ url: node.url, maxResponseBytes: 67_108_864 })
    return open()
  }

  test.each([
    ['eth_chainId', [], 65_536],
    ['eth_call', [], 65_536],
    ['eth_getCode', [], 1_048_576],
    ['eth_getBlockByNumber', ['latest', false], 2_097_152],
  ])('%s %j', async (method, params, most) => {
    const rpc = sized(most - 100)
    node.answer = () => text(most - 100)
    expect(await rpc.call(call(method, ...params))).toHaveLength(most - 98)
    node.answer = () => text(most)
    await expect(rpc.call(call(method, ...params))).rejects.toThrow(`the answer is larger than ${most} bytes`)
  })

  test('logs, receipts and full blocks may be as large as any answer', async () => {
    const rpc = sized(9_000_000)
    const large = [call('eth_getLogs', {}), call('eth_getBlockReceipts'), call('eth_getBlockByNumber', '0x1', true)]
    for (const asked of large) expect(await rpc.call(asked)).toHaveLength(9_000_002)
  })

  test('a batch may be as large as its calls together', async () => {
    const calls = [call('eth_chainId'), call('eth_call'), call('eth_call')]
    expect(await sized(95_000).callAll(calls)).toHaveLength(3)
    await expect(sized(100_000).callAll(calls)).rejects.toThrow('the answer is larger than 196608 bytes')
  })

  test.each([
    ['', ''],
    ['"jsonrpc":"2.0","id":1,', ''],
    [' "id" : "1" ,\n "result" : null , ', ''],
    ['"jsonrpc":"2.0","id":null,', ', "id":1'],
  ])('an error is small, whatever was asked: {%s"error"', async (before, after) => {
    const rpc = sized(1)
    const error = (length: number) => `{${before}"error":{"code":-32000,"message":"${'x'.repeat(length)}"}${after}}`
    node.http = always(200, error(65_000))
    expect(await rpc.askAll([call('eth_getLogs')])).toMatchObject([{ ok: false, code: -32_000 }])
    node.http = always(200, error(66_000))
    await expect(rpc.askAll([call('eth_getLogs')])).rejects.toThrow('the answer is larger than 65536 bytes')
    await expect(rpc.askAll([call('eth_getLogs'), call('eth_getLogs')])).rejects.toThrow('larger than 65536 bytes')
  })

  test('a large result is none for an error of null before it, or for such a word in it', async () => {
    const rpc = sized(1)
    node.http = always(200, `{"jsonrpc":"2.0","id":1,"error":null,"result":["${'x'.repeat(70_000)}"]}`)
    expect(await rpc.call(call('eth_getLogs'))).toHaveLength(1)
    node.http = always(200, `{"jsonrpc":"2.0","id":1,"result":{"error":{"message":"${'x'.repeat(70_000)}"}}}`)
    expect(await rpc.call(call('eth_getLogs'))).toHaveProperty('error')
  })

  test('the body of an error status is limited, and the status is reported', async () => {
    const rpc = sized(1)
    node.http = always(503, 'x'.repeat(65_537))
    await expect(rpc.call(call('eth_getLogs'))).rejects.toThrow('HTTP status 503')
  })

  test('a too large answer to eth_call does not count against the node: a foreign contract chooses its length', async () => {
    const work = sized(140_000).callAll([call('eth_chainId'), call('eth_call')])
    await expect(work).rejects.toThrow('larger than 131072 bytes')
    expect(kinds()).toEqual([])
    await expect(sized(2_000_000).call(call('eth_getCode'))).rejects.toThrow('larger than 1048576 bytes')
    expect(kinds()).toEqual(['lost'])
  })
})

test.each<[string, (response: ServerResponse) => unknown]>([
  ['no headers', () => {}],
  ['half a body', (response) => response.writeHead(200).write('{')],
])('a node that hangs after %s is given up at the time-out, by the clock', async (_, hang) => {
  const clock = manualClock()
  const requestArrived = new Promise<void>((resolve) => {
    node.http = (response) => {
      hang(response)
      resolve()
    }
  })
  const answer = open({ clock }).call(call('echo', 1))
  const rejected = expect(answer).rejects.toThrow('no answer within 5000 ms')
  await requestArrived
  await clock.advance(4_999)
  expect(kinds()).toEqual([])
  await clock.advance(1)
  await rejected
  expect(kinds()).toEqual(['lost'])
  expect(clock.sleepers()).toEqual([])
})

test.each(['gzip', 'GZIP', 'x-gzip', 'X-Gzip'])('an answer packed as %j is read', async (coding) => {
  node.http = (response, _, body) => response.writeHead(200, { 'content-encoding': coding }).end(gzipSync(body))
  expect(await open().call(call('echo', 'packed'))).toBe('packed')
})

test('an answer of empty objects alone is not parsed', async () => {
  wire.close()
  wire = createHttpWire({ url: node.url, maxResponseBytes: 8_388_608 })
  node.http = always(200, `{"id":1,"result":[${'{},'.repeat(2_400_000)}{}]}`)
  await expect(open().call(call('eth_getLogs'))).rejects.toThrow('the JSON has too many objects and lists for its size')
  expect(ends).toMatchObject([{ kind: 'lost', isHostile: true }])
})

describe('items of a batch', () => {
  const answering = (change: (items: { id: unknown }[]) => unknown) => {
    node.http = (response, _, body) => response.writeHead(200).end(JSON.stringify(change(JSON.parse(body))))
  }

  test('are assigned by id, in any order, even if the id is text', async () => {
    answering((items) => items.reverse().map((item) => ({ ...item, id: String(item.id) })))
    expect(await open().callAll(heights(5))).toEqual([0, 1, 2, 3, 4])
  })

  test.each(['0x1', '1e0', ' 1', '1.0', '+1'])('do not count when their number is written as %j', async (id) => {
    answering(([first, second]) => [{ ...first, id }, second])
    await expect(open().callAll(heights(2))).rejects.toThrow('echo: no answer')
  })

  test.each<[string, (items: { id: unknown }[]) => unknown]>([
    ['one is missing', (items) => items.slice(1)],
    ['one has no number', ([first, ...others]) => [{ ...first, id: null }, ...others]],
    ['one has the number of another request', ([first, ...others]) => [{ ...first, id: 9_999 }, ...others]],
    ['all are missing', () => []],
  ])('%s: the request is lost', async (_, change) => {
    answering(change)
    await expect(open().callAll(heights(3))).rejects.toThrow('echo: no answer.')
    expect(kinds()).toEqual(['lost'])
  })

  test('that are errors are errors of their calls alone', async () => {
    node.answer = ({ params: [value] }) => {
      if (value === 1) throw new NodeError(-32_000, 'header not found')
      return value
    }
    expect(await open().askAll(heights(3))).toEqual([
      { ok: true, result: 0 },
      { ok: false, code: -32_000, message: 'header not found' },
      { ok: true, result: 2 },
    ])
    await expect(open().callAll(heights(3))).rejects.toThrow('echo: JSON-RPC error -32000: header not found.')
    expect(ends.at(-1)).toMatchObject({ kind: 'answered', outcomes: [{ ok: true }, { code: -32_000 }, { ok: true }] })
  })

  test('are all rejected by one error for the batch', async () => {
    answering(() => ({ id: null, error: { code: -32_600, message: 'batch too large' } }))
    const rejected = { ok: false, code: -32_600, message: 'batch too large' }
    expect(await open().askAll(heights(2))).toEqual([rejected, rejected])
  })
})

describe('a rate limit', () => {
  test.each([
    ['HTTP status 429', always(429, '{"error":{"code":-32005,"message":"slow"}}', { 'retry-after': '7' }), '7'],
    ['an error 429 inside an answer', always(200, '{"id":1,"error":{"code":429,"message":"slow down"}}'), null],
  ])('is reported by %s, with its Retry-After', async (_, answer, retryAfter) => {
    node.http = answer
    const unavailable = { code: 'ERR_CHAIN_UNAVAILABLE', name: 'ChainError' }
    await expect(open().call(call('echo', 1))).rejects.toMatchObject(unavailable)
    expect(ends).toMatchObject([{ kind: 'limited', retryAfter }])
  })

  test('is none with status 403, or code -32005', async () => {
    node.http = always(403, '{}')
    await expect(open().call(call('echo', 1))).rejects.toThrow('HTTP status 403')
    node.http = always(200, '{"id":1,"error":{"code":-32005,"message":"limit exceeded"}}')
    await expect(open().call(call('echo', 1))).rejects.toThrow('-32005')
    expect(kinds()).toEqual(['lost', 'answered'])
  })
})

describe('a keep-alive connection that is closed before the next request', () => {
  /** Cuts so many requests before they are answered, as when the node closes the connection at the same moment. */
  function cut(times: number): void {
    let remaining = times
    node.http = (response) => remaining-- > 0 && response.destroy()
  }

  test('is replaced, and the request is sent again after beforeRequest', async () => {
    const steps: string[] = []
    const rpc = open({
      beforeRequest: async () => {
        steps.push('before')
        return null
      },
      onEnd: ({ kind }) => steps.push(kind),
    })
    expect(await rpc.call(call('echo', 1))).toBe(1)
    cut(1)
    expect(await rpc.call(call('echo', 2))).toBe(2)
    expect(node.connections).toHaveLength(2)
    expect(steps).toEqual(['before', 'answered', 'before', 'reconnects', 'before', 'answered'])
  })

  test('is replaced once; a new one that breaks under the request is lost', async () => {
    const rpc = open()
    expect(await rpc.call(call('echo', 1))).toBe(1)
    cut(2)
    await expect(rpc.call(call('echo', 2))).rejects.toThrow('echo: no connection (ECONNRESET).')
    expect(node.connections).toHaveLength(2)
    expect(kinds()).toEqual(['answered', 'reconnects', 'lost'])
  })
})

const most = 1_000_000
const body = (...sizes: readonly number[]) => Readable.from(sizes.map((size, index) => Buffer.alloc(size, index + 1)))
const bytes = (...sizes: readonly number[]) => Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index + 1)))

test('a body is its chunks in order, whatever length was declared', async () => {
  const buffers = createBodyBuffers()
  for (const sizes of [[], [5], [70_000, 3], [65_536], [1, 200_000, 400_000]])
    for (const announced of [0, sizes.reduce((sum, size) => sum + size, 0), 900_000])
      expect((await buffers.readBody(body(...sizes), announced, false, most)).equals(bytes(...sizes))).toBe(true)
})

test('a released buffer contains the next body, and nothing of the last one', async () => {
  const buffers = createBodyBuffers()
  const first = await buffers.readBody(body(100_000), 0, false, most)
  buffers.release(first)
  const second = await buffers.readBody(body(3), 0, false, most)
  expect(second.buffer).toBe(first.buffer)
  expect(second.equals(bytes(3))).toBe(true)
})

test('bodies that are read at the same time do not share a buffer', async () => {
  const buffers = createBodyBuffers()
  buffers.release(await buffers.readBody(body(10), 0, false, most))
  const [one, other] = await Promise.all([
    buffers.readBody(body(7), 0, false, most),
    buffers.readBody(body(5, 6), 0, false, most),
  ])
  expect(one.equals(bytes(7)) && other.equals(bytes(5, 6))).toBe(true)
  expect(one.buffer).not.toBe(other.buffer)
})

test('a too large body is rejected, by its declared length before it is read', async () => {
  const buffers = createBodyBuffers()
  await expect(buffers.readBody(body(60, 41), 0, false, 100)).rejects.toThrow(ResponseTooLargeError)
  await expect(buffers.readBody(body(1), 101, false, 100)).rejects.toThrow(ResponseTooLargeError)
  await expect(buffers.readBody(body(1), 101, true, 100)).rejects.toThrow(ResponseTooLargeError)
  expect((await buffers.readBody(body(100), 100, false, most)).length).toBe(100)
})
