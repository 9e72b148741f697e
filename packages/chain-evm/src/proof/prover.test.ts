/** Roots and hashes against real blocks, and against an encoder and a trie that share nothing with ours. */
import fc from 'fast-check'
import { createWalletClient, type Hex, http, keccak256, toRlp } from 'viem'
import { describe, expect, test } from 'vitest'
import { testRouter } from '../../test/contracts.generated.js'
import { pays } from '../../test/proof-chain.js'
import { encodeReceipt, rlpNumber } from '../../test/raw-receipts.js'
import { payer, receiver, useTestChain } from '../../test/test-chain.js'
import { yodlTopic } from '../decode/router-events.js'
import { deriveDevAccount, toViemChain } from '../dev/dev-chain.js'
import type { Fields } from '../rpc/answers.js'
import { loadKeccak } from './keccak.js'
import { createFilterTest } from './log-filter.js'
import * as prover from './prover.js'
import { parseRawReceipt } from './receipts.js'
import { MalformedRlpError } from './rlp.js'

await loadKeccak()
const node = await useTestChain(['--gas-limit', '1000000000', '--hardfork', 'prague'])
const router = await node.deploy(testRouter)
const optimism = await useTestChain(['--optimism'])

const computeRoot = (receipts: readonly Fields[]) => {
  const answer = prover.computeReceiptsRoot(receipts)
  return 'root' in answer ? answer.root : answer.flaw
}

describe('a real node', () => {
  const blockAt = (height: number) => node.rpc<Fields>('eth_getBlockByNumber', `0x${height.toString(16)}`, false)
  const receiptsAt = (height: number) => node.rpc<Fields[]>('eth_getBlockReceipts', `0x${height.toString(16)}`)

  /** A transaction of each type that anvil makes, some of which fail, with or without logs. */
  async function send(random: () => number): Promise<void> {
    const kinds = [
      { gasPrice: '0x77359400' },
      { gasPrice: '0x77359400', accessList: [{ address: router, storageKeys: [] }] },
      { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1' },
    ]
    const calls = [{ to: payer }, { to: router, data: pays(random() % 4) }, { data: '0xfe' }]
    const transaction = { from: payer, gas: '0x7a120', ...calls[random() % calls.length] }
    await node.rpc('eth_sendTransaction', { ...transaction, ...kinds[random() % kinds.length] })
  }

  test.each([0, 1, 2, 17, 127, 128, 129, 257])('agrees on a block of %d transactions', async (count) => {
    const random = sequence(count + 1)
    for (let index = 0; index < count; index++) await send(random)
    const height = await node.mine()
    const [block, receipts] = await Promise.all([blockAt(height), receiptsAt(height)])
    expect(receipts).toHaveLength(count)
    expect(computeRoot(receipts)).toBe(block['receiptsRoot'])
    expect(prover.computeHeaderHash(block)).toBe(block['hash'])
    if (count < 17) return
    expect(new Set(receipts.map(({ type }) => type))).toEqual(new Set(['0x0', '0x1', '0x2']))
    expect(new Set(receipts.map(({ status }) => status))).toEqual(new Set(['0x0', '0x1']))
  })

  test('agrees on a transaction that sets code', async () => {
    const account = deriveDevAccount(0)
    const wallet = createWalletClient({ account, chain: toViemChain(node), transport: http(node.rpcUrl) })
    const authorization = await wallet.signAuthorization({ contractAddress: router, executor: 'self' })
    await wallet.sendTransaction({ to: payer, authorizationList: [authorization], gas: 300_000n })
    const height = await node.mine()
    const receipts = await receiptsAt(height)
    expect(receipts.map(({ type }) => type)).toEqual(['0x4'])
    expect(computeRoot(receipts)).toBe((await blockAt(height))['receiptsRoot'])
  })

  test('no header and no receipt can be changed unnoticed', async () => {
    for (let index = 0; index < 3; index++) await node.send({ to: router, data: pays(2) })
    const height = await node.mine()
    const [block, receipts] = await Promise.all([blockAt(height), receiptsAt(height)])
    const fields = ['parentHash', 'logsBloom', 'receiptsRoot', 'number', 'timestamp', 'baseFeePerGas', 'extraData']
    for (const field of fields)
      expect(prover.computeHeaderHash({ ...block, [field]: flipped(block[field] as string) })).not.toBe(block['hash'])
    const [first = {}, ...rest] = receipts
    const logs = first['logs'] as Fields[]
    const [log = {}, ...others] = logs
    const flip = (object: Fields, field: string) => ({ ...object, [field]: flipped(object[field] as string) })
    const changed = [
      ...['status', 'cumulativeGasUsed', 'logsBloom', 'type'].map((field) => [flip(first, field), ...rest]),
      ...['address', 'data'].map((field) => [{ ...first, logs: [flip(log, field), ...others] }, ...rest]),
      ...[[...rest, first], rest, [first, ...receipts], [{ ...first, logs: others }, ...rest]],
    ]
    for (const all of changed) expect(computeRoot(all)).not.toBe(block['receiptsRoot'])
  })
})

test('a node of the OP stack agrees on a deposit', async () => {
  const deposit = { type: '0x7e', sourceHash: `0x${'11'.repeat(32)}`, mint: '0x0', isSystemTx: false }
  await optimism.rpc('eth_sendTransaction', { from: payer, to: payer, gas: '0x30d40', value: '0x1', ...deposit })
  const height = `0x${(await optimism.mine()).toString(16)}`
  const receipts = await optimism.rpc<Fields[]>('eth_getBlockReceipts', height)
  expect(receipts).toMatchObject([{ depositNonce: '0x1', depositReceiptVersion: '0x1' }])
  const block = await optimism.rpc<Fields>('eth_getBlockByNumber', height, false)
  expect(computeRoot(receipts)).toBe(block['receiptsRoot'])
  expect(prover.computeHeaderHash(block)).toBe(block['hash'])
})

describe('an independent encoder', () => {
  test.each([1, 2, 3, 4, 5])('agrees on random receipts of every kind, seed %d', (seed) => {
    const random = sequence(seed)
    for (const count of [1, 2, 16, 128, 129, 200 + (random() % 200)]) {
      const receipts = Array.from({ length: count }, () => randomReceipt(random))
      const encoded = receipts.map((receipt) => encodeReceipt(receipt as never))
      expect(computeRoot(receipts), `seed ${seed}, ${count} receipts`).toBe(naiveRoot(encoded))
    }
  })

  test('upper case and leading zeros of a node change nothing', () => {
    const receipt = randomReceipt(sequence(7))
    const upper = (text: unknown) => `0x${String(text).slice(2).toUpperCase()}`
    const loud = {
      ...receipt,
      logsBloom: upper(receipt['logsBloom']),
      cumulativeGasUsed: `0x000${String(receipt['cumulativeGasUsed']).slice(2)}`,
    }
    expect(computeRoot([loud])).toBe(computeRoot([receipt]))
  })
})

test.each<[string, Fields]>([
  ['logsBloom is missing or malformed', { logsBloom: '0x00' }],
  ['logsBloom is missing or malformed', { logsBloom: undefined }],
  ['cumulativeGasUsed is missing or malformed', { cumulativeGasUsed: 7 }],
  ['cumulativeGasUsed is missing or malformed', { cumulativeGasUsed: '0xzz' }],
  ['status is missing or malformed', { status: '0x' }],
  ['type is missing or malformed', { type: '0x80' }],
  ['type is missing or malformed', { type: '' }],
  ['type is missing or malformed', { type: ' 2 ' }],
  ['logs is missing or malformed', { logs: null }],
  ['log is missing or malformed', { logs: [null] }],
  ['address is missing or malformed', { logs: [{ address: '0x12', topics: [], data: '0x' }] }],
  ['address is missing or malformed', { logs: [{ address: `0x${'\u0130'.repeat(40)}`, topics: [], data: '0x' }] }],
  ['topics is missing or malformed', { logs: [{ address: payer, topics: 'x', data: '0x' }] }],
  ['topic is missing or malformed', { logs: [{ address: payer, topics: ['0x1'], data: '0x' }] }],
  ['data is missing or malformed', { logs: [{ address: payer, topics: [], data: '0x123' }] }],
  ['data is missing or malformed', { logs: [{ address: payer, topics: [], data: '0xgg' }] }],
])('%s: it is said, and nothing is thrown', (flaw, change) => {
  expect(computeRoot([{ ...randomReceipt(sequence(3)), type: '0x2', ...change }])).toBe(flaw)
})

test('a header with the fields of later forks hashes like their list', async () => {
  const block = await node.rpc<Fields>('eth_getBlockByNumber', 'latest', false)
  const added = { blockAccessListHash: `0x${'ab'.repeat(32)}`, slotNumber: '0x7f10' } as const
  const bytes = 'parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom'.split(' ')
  const quantities = 'difficulty number gasLimit gasUsed timestamp'.split(' ')
  const forks = 'withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash'.split(' ')
  const names = [...bytes, ...quantities, 'extraData', 'mixHash', 'nonce', 'baseFeePerGas', ...forks]
  const isQuantity = (name: string) => [...quantities, 'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'].includes(name)
  const item = (name: string) => (isQuantity(name) ? rlpNumber(block[name] as Hex) : (block[name] as Hex))
  const fields = [...names.map(item), added.blockAccessListHash, added.slotNumber]
  expect(names.every((name) => typeof block[name] === 'string')).toBe(true)
  expect(prover.computeHeaderHash({ ...block, ...added })).toBe(keccak256(toRlp(fields)))
})

test('a header without a field, or of another kind, has no hash or another one', () => {
  expect(prover.computeHeaderHash({})).toBeNull()
  expect(prover.computeHeaderHash({ parentHash: 1 })).toBeNull()
})

/** Sets `count` more bits that are not set yet, lowest first. */
function fill(filter: string, count: number): string {
  let bits = BigInt(filter)
  for (let bit = 0n, left = count; left > 0; bit++)
    if ((bits & (1n << bit)) === 0n) {
      bits |= 1n << bit
      left -= 1
    }
  return `0x${bits.toString(16).padStart(512, '0')}`
}
const bitsIn = (filter: string) => BigInt(filter).toString(2).replaceAll('0', '').length

test('the filter of a real block is right about its logs unless it is too full', async () => {
  const { blockNumber } = await node.call(testRouter, router, 'emitMany', [1n, receiver, receiver, 5n, false])
  const { logsBloom } = await node.block(blockNumber)
  const empty = `0x${'00'.repeat(256)}`
  const otherTopic = `0x${'ab'.repeat(32)}`
  const ask = createFilterTest([receiver, router], [otherTopic, yodlTopic])
  expect(ask(logsBloom)).toBe('likely')
  expect(ask(fill(logsBloom, 640 - bitsIn(logsBloom)))).toBe('likely')
  expect(ask(fill(logsBloom, 641 - bitsIn(logsBloom)))).toBe('possible')
  expect(ask(fill(empty, 2048))).toBe('possible')
  expect(ask(empty)).toBe('no')
  expect(createFilterTest([receiver.replace('b2', 'b3')], [yodlTopic])(logsBloom)).toBe('no')
  expect(createFilterTest([router], [otherTopic])(logsBloom)).toBe('no')
})

const address = `0x${'ab'.repeat(20)}` as const
const topic = `0x${'cd'.repeat(32)}` as const
const bloom = `0x${'00'.repeat(256)}` as const
const toBytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const encoded = (logs: Parameters<typeof encodeReceipt>[0]['logs'], type: `0x${string}` = '0x2', status = '0x1') =>
  toBytes(encodeReceipt({ type, status: status as '0x1', cumulativeGasUsed: '0x5208', logsBloom: bloom, logs }))

test.each(['0x0', '0x1', '0x2', '0x7e'] as const)('a receipt of type %s has its status and logs', (type) => {
  for (const data of ['0x', '0x07', '0x80', `0x${'ee'.repeat(60)}`, `0x${'ee'.repeat(70_000)}`] as const) {
    const logs = [
      { address, topics: [topic, topic], data },
      { address, topics: [], data },
    ]
    const receipt = parseRawReceipt(encoded(logs, type))
    expect(receipt).toMatchObject({ succeeded: true, addresses: [address, address] })
    expect(receipt.logs()).toEqual(logs)
  }
  expect(parseRawReceipt(encoded([], type, '0x0'))).toMatchObject({ succeeded: false, addresses: [] })
})

test('a receipt with the root of a state in place of a status has none', () => {
  expect(parseRawReceipt(encoded([], '0x0', topic)).succeeded).toBeNull()
})

test('truncated or changed bytes parse or are a MalformedRlpError', () => {
  const whole = encoded([{ address, topics: [topic], data: '0x1234' }])
  const read = (bytes: Buffer) => {
    try {
      parseRawReceipt(bytes).logs()
    } catch (error) {
      expect(error).toBeInstanceOf(MalformedRlpError)
    }
  }
  for (let length = 0; length < whole.length; length += 1) read(whole.subarray(0, length))
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), (at, value) => {
      const changed = Buffer.from(whole)
      changed[at] = value
      read(changed)
    }),
  )
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => read(Buffer.from(bytes))))
})

/** Numbers below 2^31, always the same for a seed. */
function sequence(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0
    return (state ^ (state >>> 13)) & 0x7fffffff
  }
}

function toHex(random: () => number, bytes: number): Hex {
  let text = '0x'
  for (let index = 0; index < bytes; index++) text += (random() % 256).toString(16).padStart(2, '0')
  return text as Hex
}

const toQuantity = (number: number): Hex => `0x${number.toString(16)}`
const statusOrRoot = (random: () => number) => {
  const kind = random() % 8
  return kind === 0 ? { root: toHex(random, 32) } : { status: kind % 2 === 0 ? '0x1' : '0x0' }
}

function randomReceipt(random: () => number): Fields {
  const type = [0, 1, 2, 3, 4, 0x7e, 0x7e, 0x64, 0x6a][random() % 9] ?? 0
  const logs = Array.from({ length: random() % 5 }, () => ({
    address: toHex(random, 20),
    topics: Array.from({ length: random() % 5 }, () => toHex(random, 32)),
    data: toHex(random, [0, 1, 32, 54, 55, 56, 128, 400][random() % 8] ?? 0),
  }))
  const deposit =
    type === 0x7e && random() % 2 === 0
      ? { depositNonce: toQuantity(random() % 300), depositReceiptVersion: '0x1' }
      : {}
  const cumulativeGasUsed = toQuantity(random() % ([1, 128, 256, 2 ** 31][random() % 4] ?? 1))
  const typed = type === 0 && random() % 2 === 0 ? {} : { type: toQuantity(type) }
  return { ...typed, ...statusOrRoot(random), cumulativeGasUsed, logsBloom: toHex(random, 256), logs, ...deposit }
}

type Entry = readonly [nibbles: string, value: Hex]

/** The trie by the book: text for paths, every node encoded on its own. */
function naiveRoot(values: readonly Hex[]): Hex {
  const entries = values.map((value, index): Entry => [toRlp(rlpNumber(toQuantity(index))).slice(2), value])
  return keccak256(naiveNode(entries))
}

function naiveNode(entries: readonly Entry[]): Hex {
  const [first] = entries
  if (first === undefined) return '0x80'
  if (entries.length === 1) return toRlp([packed(first[0], 2), first[1]])
  let shared = 0
  while (entries.every(([path]) => path[shared] !== undefined && path[shared] === first[0][shared])) shared++
  if (shared > 0) {
    const child = naiveNode(entries.map(([path, value]): Entry => [path.slice(shared), value]))
    return toRlp([packed(first[0].slice(0, shared), 0), keccak256(child)])
  }
  const children = [...'0123456789abcdef'].map((nibble): Hex => {
    const below = entries.filter(([path]) => path.startsWith(nibble))
    return below.length === 0 ? '0x' : keccak256(naiveNode(below.map(([path, value]): Entry => [path.slice(1), value])))
  })
  return toRlp([...children, '0x'])
}

function packed(nibbles: string, flag: number): Hex {
  return nibbles.length % 2 === 1 ? `0x${flag + 1}${nibbles}` : `0x${flag}0${nibbles}`
}

function flipped(hex: string): string {
  return hex.endsWith('0') ? `${hex.slice(0, -1)}1` : `${hex.slice(0, -1)}0`
}
