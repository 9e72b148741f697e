import { encodeAbiParameters } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  endlessToken,
  hugeToken,
  invalidToken,
  oddToken,
  revertingToken,
  testRouter,
} from '../../test/contracts.generated.js'
import { type Front, type Intercept, openFront, passOn, rewriting } from '../../test/front.js'
import { type ManualClock, manualClock, runThrough } from '../../test/manual-clock.js'
import { readAll } from '../../test/read-all.js'
import { startTestChain, type TestChain } from '../../test/test-chain.js'
import { createEvmChain } from '../evm-chain.js'

const receiver = '0x00000000000000000000000000000000000000b2'
const uint = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value])
const string = (text: string) => encodeAbiParameters([{ type: 'string' }], [text])

let node: TestChain
let front: Front
let router: string
const open = (options?: { clock: ManualClock; requestTimeoutMs: number }) =>
  createEvmChain({ chainId: 31337, rpcUrl: front.url, routers: [{ address: router, version: '0.8' }], ...options })

beforeAll(async () => {
  node = await startTestChain()
  front = await openFront(node.rpcUrl)
  router = await node.deploy(testRouter)
})
afterEach(() => {
  front.intercept = passOn
})
afterAll(async () => {
  await front?.close()
  await node?.stop()
})

async function payIn(token: string) {
  return (await node.call(testRouter, router, 'emitMany', [1n, receiver, token, 5n, false])).blockNumber
}

test.each([
  ['a usual token', oddToken, [string('DAI'), uint(18n)], { symbol: 'DAI', decimals: 18 }],
  ['empty answers', oddToken, ['0x', '0x'], { symbol: null, decimals: 0 }],
  ['a revert', revertingToken, [], { symbol: null, decimals: 0 }],
  ['an endless loop', endlessToken, [], { symbol: null, decimals: 0 }],
  ['an invalid opcode', invalidToken, [], { symbol: null, decimals: 0 }],
  ['an answer of megabytes, which the gas limit of the call cuts off', hugeToken, [], { symbol: null, decimals: 0 }],
])(
  '%s',
  async (_, contract, args, expected) => {
    const token = await node.deploy(contract, args)
    const height = await payIn(token)
    const [payment] = (await readAll(open(), height, height)).payments
    expect(payment?.tokenOut).toMatchObject({ address: token, ...expected })
    expect(payment?.tokenIn).toEqual({ address: token, ...expected, amount: 5n })
  },
  30_000,
)

test('an address without a contract has no symbol and 0 decimals', async () => {
  const height = await payIn(receiver)
  const [payment] = (await readAll(open(), height, height)).payments
  expect(payment?.tokenOut).toMatchObject({ address: receiver, symbol: null, decimals: 0 })
})

test.each([
  ['a usual token', oddToken, [string('DAI'), uint(18n)], 1],
  ['a token that answers nothing', revertingToken, [], 2],
])('%s is asked once', async (_, contract, args, requests) => {
  const height = await payIn(await node.deploy(contract, args))
  const chain = open()
  const before = front.requests.length
  await readAll(chain, height, height)
  await readAll(chain, height, height)
  expect(front.requests.slice(before).filter((methods) => methods.includes('eth_call'))).toHaveLength(requests)
})

/** A node that answers calls of one token, or every call, with a JSON-RPC error. */
function failing(error: object, token?: string) {
  return rewriting((item, { method, params }) => {
    const to = (params[0] as { to?: string } | undefined)?.to
    return method === 'eth_call' && (token === undefined || to === token) ? { id: item.id, error } : item
  })
}

describe('a token that stops the virtual machine', () => {
  test.each([
    'return data out of bounds',
    'stack limit reached 1024 (1023)',
    'stack underflow (0 <=> 2)',
    'gas uint64 overflow',
    'write protection',
    'max call depth exceeded',
    'bad elliptic curve pairing size',
    'invalid input length',
    'something that no node says yet',
    'execution reverted: too many requests, missing trie node',
    'VM Exception while processing transaction: revert header not found',
  ])('has no symbol and 0 decimals, and the chain goes on: %s', async (message) => {
    const token = await node.deploy(oddToken, [string('X'), uint(1n)])
    const height = await payIn(token)
    front.intercept = failing({ code: -32000, message }, token)
    const [payment] = (await readAll(open(), height, height)).payments
    expect(payment?.tokenOut).toMatchObject({ address: token, symbol: null, decimals: 0 })
  })

  test.each([
    ['reads beyond what a call returned', '0x60206000600060003e00'],
    ['takes from an empty stack', '0x01'],
    ['fills the stack', '0x5b6000600056'],
    ['jumps nowhere', '0x600056'],
    ['calls itself without end', '0x5b6000600060006000305afa600056'],
    ['asks for all memory there is', '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff51'],
    ['is no code', '0xef'],
  ])('has no symbol and 0 decimals when its code %s', async (_, code) => {
    const token = await node.deploy(oddToken, [string('X'), uint(1n)])
    await node.rpc('anvil_setCode', token, code)
    const height = await payIn(token)
    const [payment] = (await readAll(open(), height, height)).payments
    expect(payment?.tokenOut).toMatchObject({ address: token, symbol: null, decimals: 0 })
  })

  test('keeps its other answer', async () => {
    const token = await node.deploy(oddToken, [string('X'), uint(1n)])
    const height = await payIn(token)
    front.intercept = rewriting((item, { method, params }) =>
      method === 'eth_call' && (params[0] as { data: string }).data === '0x313ce567'
        ? { id: item.id, error: { code: -32000, message: 'write protection' } }
        : item,
    )
    const [payment] = (await readAll(open(), height, height)).payments
    expect(payment?.tokenOut).toMatchObject({ symbol: 'X', decimals: 0 })
  })
})

const dai = { symbol: 'DAI', decimals: 18 }

test.each([1, 2, 3])(
  'an error of the token’s calls alone that passes after %i requests is not taken for "the token has none"',
  async (times) => {
    const token = await node.deploy(oddToken, [string('DAI'), uint(18n)])
    const height = await payIn(token)
    let failures = times
    front.intercept = (request, response) => {
      const asked = request.methods.includes('eth_call') && failures-- > 0
      return (asked ? failing({ code: -32000, message: 'hiccup' }, token) : passOn)(request, response)
    }
    expect((await readAll(open(), height, height)).payments[0]?.tokenOut).toMatchObject(dai)
  },
)

test("an unclear error costs four requests, and an error of the token's code two", async () => {
  const requestsFor = async (message: string) => {
    const token = await node.deploy(oddToken, [string('DAI'), uint(18n)])
    const height = await payIn(token)
    front.intercept = failing({ code: -32000, message }, token)
    const before = front.requests.length
    await readAll(open(), height, height)
    front.intercept = passOn
    return front.requests.slice(before).filter((methods) => methods.includes('eth_call')).length
  }
  expect(await requestsFor('hiccup')).toBe(4)
  expect(await requestsFor('execution reverted')).toBe(2)
})

test.each([
  ['a rate limit', { code: -32005, message: 'project exceeded its plan' }],
  ['a rate limit as HTTP names it', { code: 429, message: 'slow down' }],
  ['a rate limit in words', { code: -32000, message: 'Too Many Requests' }],
  ['a node without the state', { code: -32000, message: 'missing trie node 12ab' }],
  ['a node without the block', { code: -32000, message: 'header not found' }],
  ['a node that takes too long', { code: -32000, message: 'execution aborted (timeout = 5s)' }],
])('%s of a token’s calls alone is the node’s fault', async (_, error) => {
  const token = await node.deploy(oddToken, [string('DAI'), uint(18n)])
  const height = await payIn(token)
  front.intercept = failing(error, token)
  const clock = manualClock()
  const requestTimeoutMs = 600_000
  const reading = readAll(open({ clock, requestTimeoutMs }), height, height)
  await expect(runThrough(clock, reading, (ms) => ms < requestTimeoutMs / 2)).rejects.toMatchObject({
    code: 'ERR_CHAIN_UNAVAILABLE',
  })
})

test.each([
  ['a lost connection', null],
  ['a rate limit', { code: -32005, message: 'too many requests' }],
  ['a node without the state', { code: -32000, message: 'missing trie node' }],
  ['a node that fails every call', { code: -32000, message: 'boom' }],
  ['a node without the method', { code: -32601, message: 'the method is not available' }],
])('%s is not taken for "the token has none"', async (_, error) => {
  const token = await node.deploy(oddToken, [string('DAI'), uint(18n)])
  const height = await payIn(token)
  const chain = open()
  const lost: Intercept = ({ methods, forward }, response) => {
    if (!methods.includes('eth_call')) return forward()
    response.destroy()
    return undefined
  }
  front.intercept = error === null ? lost : failing(error)
  await expect(readAll(chain, height, height)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  front.intercept = passOn
  expect((await readAll(chain, height, height)).payments[0]?.tokenOut).toMatchObject(dai)
})

test.each([null, 7, {}, 'text'])('an eth_call that answers %j is nonsense', async (result) => {
  const height = await payIn(await node.deploy(oddToken, [string('DAI'), uint(18n)]))
  front.intercept = rewriting((item, { method }) => (method === 'eth_call' ? { id: item.id, result } : item))
  await expect(readAll(open(), height, height)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
})
