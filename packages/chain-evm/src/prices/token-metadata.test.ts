import { type Address, encodeAbiParameters, getContractAddress, numberToHex, stringToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { oddToken } from '../../test/contracts.generated.js'
import { type FrontCall, type Intercept, type Item, passOn, rewriting } from '../../test/front.js'
import { manualClock, runThrough } from '../../test/manual-clock.js'
import { openProofChain } from '../../test/proof-chain.js'
import { readAll } from '../../test/read-all.js'
import { payer } from '../../test/test-chain.js'
import { parseDecimals, parseSymbol } from './token-metadata.js'

const uint = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value])
const string = (text: string) => encodeAbiParameters([{ type: 'string' }], [text])
const dai = { symbol: 'DAI', decimals: 18 }
const none = { symbol: null, decimals: 0 }
const reverts = '0x600080fd'

const { node, front, open, payIn } = await openProofChain()
const daiAnswers = [string('DAI'), uint(18n)] as const
const deployDai = () => node.deploy(oddToken, daiAnswers)
/** Replaces the code of a token, if one is given. */
async function deployCode(code: string | null): Promise<Address> {
  const token = await deployDai()
  if (code !== null) await node.rpc('anvil_setCode', token, code)
  return token
}
const tokenOut = async (height: number, chain = open()) => (await readAll(chain, height, height)).payments[0]?.tokenOut

test.each([
  ['a usual token', dai, null],
  ['empty answers', none, '0x00'],
  ['a revert', none, reverts],
  ['an endless loop', none, '0x5b600056'],
  ['megabytes, which the gas limit of the call cuts off', none, '0x6020600052622625a0602052622625e06000f3'],
  ['calls of itself without end', none, '0x5b6000600060006000305afa600056'],
  ['a wish for all memory there is', none, '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff51'],
  ['an invalid opcode', none, '0xfe'],
  ['no code', none, '0xef'],
])(
  'a token is read, or has no symbol and 0 decimals: %s',
  async (_, expected, code) => {
    const token = await deployCode(code)
    const height = await payIn(token)
    const [payment] = (await readAll(open(), height, height)).payments
    expect(payment?.tokenOut).toMatchObject({ address: token, ...expected })
    expect(payment?.tokenIn).toEqual({ address: token, ...expected, amount: 5n })
  },
  30_000,
)

/** A node that answers calls of one token, or every call, with a JSON-RPC error. */
function failing(error: object, token?: string) {
  return rewriting((item, { method, params }) => {
    const to = (params[0] as { to?: string } | undefined)?.to
    return method === 'eth_call' && (token === undefined || to === token) ? { id: item.id, error } : item
  })
}

describe('a token that stops the virtual machine', () => {
  test.each([
    ...['return data out of bounds', 'stack limit reached 1024 (1023)', 'stack underflow (0 <=> 2)'],
    ...['gas uint64 overflow', 'write protection', 'max call depth exceeded', 'bad elliptic curve pairing size'],
    ...['invalid input length', 'something that no node says yet'],
    'execution reverted: too many requests, missing trie node',
    'VM Exception while processing transaction: revert header not found',
  ])('has no symbol and 0 decimals, and the chain goes on: %s', async (message) => {
    const token = await deployDai()
    const height = await payIn(token)
    front.intercept = failing({ code: -32000, message }, token)
    expect(await tokenOut(height)).toMatchObject({ address: token, ...none })
  })

  test('keeps its other answer', async () => {
    const height = await payIn(await deployDai())
    const error = { code: -32000, message: 'write protection' }
    front.intercept = rewriting((item, { method, params }) =>
      method === 'eth_call' && (params[0] as { data: string }).data === '0x313ce567' ? { id: item.id, error } : item,
    )
    expect(await tokenOut(height)).toMatchObject({ symbol: 'DAI', decimals: 0 })
  })
})

test.each([1, 2, 3])(
  'an error of the token’s calls alone that passes after %i requests is not taken for "the token has none"',
  async (times) => {
    const token = await deployDai()
    const height = await payIn(token)
    let failures = times
    front.intercept = (request, response) => {
      const isFailing = request.methods.includes('eth_call') && failures-- > 0
      return (isFailing ? failing({ code: -32000, message: 'hiccup' }, token) : passOn)(request, response)
    }
    expect(await tokenOut(height)).toMatchObject(dai)
  },
)

test.each([
  ['a usual token costs one request', null, null, 1],
  ['a token that answers nothing costs two', reverts, null, 2],
  ["an error of the token's code costs two", null, 'execution reverted', 2],
  ['an unclear error costs four', null, 'hiccup', 4],
])('%s, and the token is asked once', async (_, code, message, requests) => {
  const token = await deployCode(code)
  const height = await payIn(token)
  const chain = open()
  if (message !== null) front.intercept = failing({ code: -32000, message }, token)
  const sent = await front.during(async () => {
    await readAll(chain, height, height)
    await readAll(chain, height, height)
  })
  expect(sent.filter((methods) => methods.includes('eth_call'))).toHaveLength(requests)
})

test.each([
  ['a rate limit', { code: -32005, message: 'project exceeded its plan' }],
  ['a rate limit as HTTP names it', { code: 429, message: 'slow down' }],
  ['a rate limit in words', { code: -32000, message: 'Too Many Requests' }],
  ['a node without the state', { code: -32000, message: 'missing trie node 12ab' }],
  ['a node without the block', { code: -32000, message: 'header not found' }],
  ['a node that takes too long', { code: -32000, message: 'execution aborted (timeout = 5s)' }],
])('%s of a token’s calls alone is the node’s fault', async (_, error) => {
  const token = await deployDai()
  const height = await payIn(token)
  front.intercept = failing(error, token)
  const clock = manualClock()
  const requestTimeoutMs = 600_000
  const reading = readAll(open({ clock, requestTimeoutMs }), height, height)
  const outcome = runThrough(clock, reading, (ms) => ms < requestTimeoutMs / 2)
  await expect(outcome).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
})

test.each([
  ['a lost connection', null],
  ['a rate limit', { code: -32005, message: 'too many requests' }],
  ['a node without the state', { code: -32000, message: 'missing trie node' }],
  ['a node that fails every call', { code: -32000, message: 'boom' }],
  ['a node without the method', { code: -32601, message: 'the method is not available' }],
])('%s is not taken for "the token has none"', async (_, error) => {
  const height = await payIn(await deployDai())
  const chain = open()
  const destroyCalls: Intercept = ({ methods, forward }, response) =>
    methods.includes('eth_call') ? response.destroy() : forward()
  front.intercept = error === null ? destroyCalls : failing(error)
  await expect(readAll(chain, height, height)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  front.intercept = passOn
  expect(await tokenOut(height, chain)).toMatchObject(dai)
})

test.each([null, 7, {}, 'text'])('an eth_call that answers %j is nonsense', async (result) => {
  const height = await payIn(await deployDai())
  front.lie('eth_call', () => result)
  await expect(readAll(open(), height, height)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
})

// A node that is behind, or that stands behind a gateway with nodes that are.
const ofState = (method: string) => method === 'eth_call' || method === 'eth_getCode'
const noState = ({ id }: Item) => ({ id, result: '0x' })

/** The answers of a node that stopped below `height`, where the token is not deployed yet. */
function behind(height: number) {
  return rewriting((item: Item, { method, params }: FrontCall) => {
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest')
      return { ...item, result: { ...(item.result as object), number: numberToHex(height - 1) } }
    return ofState(method) ? noState(item) : item
  })
}

/** A gateway whose nodes disagree: state comes from one that is behind and does not know the height it is asked for. */
const splitGateway = rewriting((item, { method, params }) => {
  if (!ofState(method)) return item
  const error = { code: -32000, message: 'header not found' }
  return params.at(-1) === 'latest' ? noState(item) : { id: item.id, error }
})

const sizes = Object.entries({ batches: 100, 'single requests': 1 })
test.each(sizes)('an empty answer of a node that is behind is asked again, over %s', async (_, batchSize) => {
  const height = await payIn(await deployDai())
  const chain = open({ batchSize })
  for (const lie of [behind(height), splitGateway]) {
    front.intercept = lie
    await expect(readAll(chain, height, height)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  }
  front.intercept = passOn
  expect(await tokenOut(height, chain)).toMatchObject(dai)
})

const newest = Object.entries({ null: null, nonsense: 'soon' })
test.each(newest)('a newest block that is %s is no proof that the node is up to date', async (_, result) => {
  const height = await payIn(await deployDai())
  front.lie('eth_getBlockByNumber', (block, { params }) => (params[0] === 'latest' ? result : block))
  await expect(readAll(open(), height, height)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
})

test('code that is not hex does not prove an empty answer', async () => {
  const height = await payIn(await node.deploy(oddToken, ['0x', '0x']))
  front.lie('eth_getCode', () => null)
  await expect(readAll(open(), height, height)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
})

test('an address without code is read again only in later blocks', async () => {
  const nonce = BigInt(await node.rpc<string>('eth_getTransactionCount', payer, 'latest'))
  const token = getContractAddress({ from: payer, nonce: nonce + 1n }).toLowerCase() as Address
  const chain = open()
  const early = await payIn(token)
  expect(await tokenOut(early, chain)).toMatchObject({ address: token, ...none })
  expect((await front.during(() => readAll(chain, early, early))).flat()).not.toContain('eth_call')
  expect(await deployDai()).toBe(token)
  expect(await tokenOut(await payIn(token), chain)).toMatchObject({ address: token, ...dai })
})

const rawString = (hex: string) =>
  `0x${'20'.padStart(64, '0')}${(hex.length / 2).toString(16).padStart(64, '0')}${hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')}`

describe('symbol', () => {
  test.each([
    ['a string', string('USDC'), 'USDC'],
    ['bytes32', stringToHex('MKR', { size: 32 }), 'MKR'],
    ['bytes32 without padding', stringToHex('A'.repeat(32)), 'A'.repeat(32)],
    ['text with spaces and signs, verbatim', string('  a<b>\n‮x '), '  a<b>\n‮x '],
    ['letters outside the basic plane', string('💶💶'), '💶💶'],
    ['a byte order mark, verbatim', string('\ufeffX'), '\ufeffX'],
    ['no answer', '0x', null],
    ['an empty string', string(''), null],
    ['32 zero bytes', `0x${'00'.repeat(32)}`, null],
    ['bytes that are not UTF-8', rawString('c328'), null],
    ['bytes32 that is not UTF-8', `0xff${'00'.repeat(31)}`, null],
    ['a NUL inside', string('A\0B'), null],
    ['a NUL inside bytes32', stringToHex('A\0B', { size: 32 }), null],
    ['a length beyond the answer', `0x${'20'.padStart(64, '0')}${'ff'.padStart(64, '0')}${'41'.repeat(32)}`, null],
    ['an offset beyond the answer', `0x${'ff'.repeat(32)}${'41'.repeat(32)}`, null],
    ['half an answer', '0x0020', null],
  ])('%s', (_, answer, expected) => expect(parseSymbol(answer)).toBe(expected))

  test.each(['A', 'é', '€', '💶'])('is cut to 64 code points, here of %s', (letter) => {
    expect(parseSymbol(string(letter.repeat(64)))).toBe(letter.repeat(64))
    expect(parseSymbol(string(letter.repeat(1_000)))).toBe(letter.repeat(64))
    expect(parseSymbol(string(`x${letter.repeat(1_000)}`))).toBe(`x${letter.repeat(63)}`)
  })
})

test.each([
  ['0', uint(0n), 0],
  ['18', uint(18n), 18],
  ['255', uint(255n), 255],
  ['256', uint(256n), 0],
  ['the largest number', uint(2n ** 256n - 1n), 0],
  ['a long answer', `${uint(6n)}${'ff'.repeat(32)}`, 6],
  ['no answer', '0x', 0],
  ['a short answer', '0x06', 0],
])('decimals: %s', (_, answer, expected) => expect(parseDecimals(answer)).toBe(expected))
