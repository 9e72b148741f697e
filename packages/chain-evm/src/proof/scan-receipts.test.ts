/** Receipts that are read in the bytes of an answer, against the same receipts read as objects. */
import { beforeAll, describe, expect, test } from 'vitest'
import { unpackLogs } from './packed-logs.js'
import { openProver, type Prover } from './prover.js'
import { RlpWriter } from './rlp-writer.js'
import { scanReceipts } from './scan-receipts.js'

let prover: Prover
beforeAll(async () => {
  prover = await openProver()
})

const blockHash = `0x${'b1'.repeat(32)}`
const ownerOf = (index: number) => `0x${index.toString(16).padStart(64, 'a')}`

interface Log {
  address: string
  topics: string[]
  data: string
}

/** Numbers below 2^31, always the same for a seed. */
function sequence(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >>> 8) % below
  }
}

function randomHex(random: (below: number) => number, bytes: number): string {
  return `0x${Array.from({ length: bytes }, () => random(256).toString(16).padStart(2, '0')).join('')}`
}

function randomLog(random: (below: number) => number): Log {
  const sizes = [0, 2, 31, 32, 55, 56, 128, 255, 256, 700]
  return {
    address: randomHex(random, 20),
    topics: Array.from({ length: random(5) }, () => randomHex(random, 32)),
    data: randomHex(random, sizes[random(sizes.length)] ?? 0),
  }
}

/** A receipt as nodes answer it: with more fields than the proof needs, in any order. */
function randomReceipt(random: (below: number) => number, index: number) {
  const logs = Array.from({ length: random(4) }, () => randomLog(random))
  const gas = [0, 0x7f, 0x80, 0xff, 0x100, 21_000, 2 ** 32, 2 ** 51][random(8)] ?? 0
  const told = { blockHash, transactionHash: ownerOf(index) }
  const fields: [string, unknown][] = Object.entries({
    ...told,
    type: `0x${random(5).toString(16)}`,
    status: `0x${random(2)}`,
    cumulativeGasUsed: `0x${gas.toString(16)}`,
    logs: logs.map((log) => ({ note: '"}],{\\', ...log, ...told, logIndex: '0x1', removed: false, nothing: null })),
    logsBloom: randomHex(random, 256),
    from: randomHex(random, 20),
    contractAddress: null,
    odd: [{}, [], { 'a"b': '\\' }, 1.5, -2e3, true],
  })
  for (let left = fields.length; left > 1; left--) fields.push(...fields.splice(random(left), 1))
  return { receipt: Object.fromEntries(fields), logs }
}

function scan(text: string, count: number) {
  const bytes = Buffer.from(text)
  const scanned = scanReceipts(
    bytes,
    0,
    blockHash,
    Array.from({ length: count }, (_, index) => ownerOf(index)),
  )
  return scanned && { bytes, ...scanned }
}

describe.each([1, 2, 3, 4, 5, 6, 7, 8])('random receipts of seed %d', (seed) => {
  const random = sequence(seed)
  const count = [0, 1, 2, 17, 128, 130][seed % 6] ?? 1
  const all = Array.from({ length: count }, (_, index) => randomReceipt(random, index))
  const receipts = all.map(({ receipt }) => receipt)

  test.each([undefined, 1, '\t'])('lead to the root of the same objects, with white space %j', (space) => {
    const text = JSON.stringify(receipts, null, space)
    const scanned = scan(text, count)
    expect(scanned?.end).toBe(text.length)
    if (scanned === null) return
    expect(prover.scannedRoot(scanned.bytes, scanned.receipts)).toEqual({
      ...prover.receiptsRoot(receipts),
      packedLogs: [],
    })
  })

  test('keep their logs when they are packed', () => {
    const scanned = scan(JSON.stringify(receipts), count)
    if (scanned === null) throw new Error(`seed ${seed}: nothing was scanned.`)
    const kept = scanned.receipts.map((_, index) => index)
    const unpacked = prover.scannedRoot(scanned.bytes, scanned.receipts, kept)?.packedLogs.map(unpackLogs)
    expect(unpacked).toEqual(all.map(({ logs }) => logs))
  })
})

const plainLog: Log = { address: `0x${'0a'.repeat(20)}`, topics: [`0x${'0b'.repeat(32)}`], data: '0x0c0d' }
const plain = {
  type: '0x2',
  status: '0x1',
  cumulativeGasUsed: '0x5208',
  logs: [plainLog],
  logsBloom: `0x${'00'.repeat(256)}`,
  transactionHash: ownerOf(0),
  blockHash,
}
const withLog = (log: object) => ({ ...plain, logs: [{ ...plainLog, ...log }] })
const without = (field: keyof typeof plain) => {
  const { [field]: _, ...rest } = plain
  return rest
}

test('a plain receipt is taken', () => {
  expect(scan(JSON.stringify([plain]), 1)?.receipts).toHaveLength(1)
})

test.each<[string, unknown]>([
  ['is of another block', { ...plain, blockHash: ownerOf(7) }],
  ['is of another transaction', { ...plain, transactionHash: ownerOf(7) }],
  ['is a deposit', { ...plain, type: '0x7e' }],
  ['has no type', without('type')],
  ['has no status', without('status')],
  ['has a status that is none', { ...plain, status: '0x2' }],
  ['has no gas', without('cumulativeGasUsed')],
  ['has more gas than a number holds', { ...plain, cumulativeGasUsed: `0x${'f'.repeat(14)}` }],
  ['has no filter', without('logsBloom')],
  ['has a short filter', { ...plain, logsBloom: `0x${'00'.repeat(255)}` }],
  ['has no logs', without('logs')],
  ['has logs that are no list', { ...plain, logs: {} }],
  ['has a log that is no object', { ...plain, logs: [1] }],
  ['has a log without topics', withLog({ topics: undefined })],
  ['has a log without data', withLog({ data: undefined })],
  ['has a short topic', withLog({ topics: ['0x0b'] })],
  ['has a topic that is no text', withLog({ topics: [7] })],
  ['has a long address', withLog({ address: `0x${'0a'.repeat(21)}` })],
  ['has half a byte of data', withLog({ data: '0x0c0' })],
  ['has one byte of data, which has an encoding of its own', withLog({ data: '0x0c' })],
  ['is no object', 5],
])('a receipt that %s is left to be parsed', (_, receipt) => {
  expect(scan(JSON.stringify([receipt]), 1)).toBeNull()
})

test.each<[string, unknown]>([
  ['uppercase', withLog({ data: '0x0C0D' })],
  ['no', withLog({ data: '0x0c0g' })],
  ['escaped', withLog({ data: '0x\\u0030' })],
])('a receipt with %s hex has no root', (_, receipt) => {
  const scanned = scan(JSON.stringify([receipt]).replaceAll('\\\\', '\\'), 1)
  expect(scanned).not.toBeNull()
  if (scanned !== null) expect(prover.scannedRoot(scanned.bytes, scanned.receipts)).toBeNull()
})

test('receipts that are fewer or more than the transactions, or cut anywhere, are left to be parsed', () => {
  const text = JSON.stringify([plain])
  expect(scan(text, 2)).toBeNull()
  expect(scan('[]', 1)).toBeNull()
  expect(scan(JSON.stringify([plain, plain]), 1)).toBeNull()
  for (let length = 0; length < text.length; length++) expect(scan(text.slice(0, length), 1)).toBeNull()
})

test.each([0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 2 ** 32, Number.MAX_SAFE_INTEGER])(
  '%d is written as its quantity is',
  (value) => {
    const [one, other] = [new RlpWriter(), new RlpWriter()]
    one.number(value)
    other.quantity(value === 0 ? '' : value.toString(16), 'value')
    expect(one.bytes.subarray(0, one.at)).toEqual(other.bytes.subarray(0, other.at))
  },
)
