/**
 * Recomputes block hashes and receipts roots; Keccak must be loaded. Source: docs/decisions/completeness.md.
 * @module
 */
import type { Fields } from '../rpc/answers.js'
import { keccak } from './keccak.js'
import { type MeasuredReceipt, measureReceipt, writeReceipt } from './receipts.js'
import {
  countBytes,
  measureHex,
  measureItem,
  measureQuantity,
  parseSignificantDigits,
  RlpWriter,
  toHex,
  UnencodableError,
} from './rlp.js'

// The Merkle-Patricia root of a list: the trie from RLP(index) to item. Source: Ethereum yellow paper, appendix D.
//
// Every item has at least `minItemBytes`, so no node of the trie is small enough to be embedded in another.

export const minItemBytes = 32

/** The scratch buffer of this process; each function fills and hashes it synchronously. */
const writer = new RlpWriter()

const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

const hashBytes = 32
const branchWidth = 16

function computeListRoot(items: TrieContents['items'], writeItem: TrieContents['writeItem']): string {
  if (items.length === 0) return emptyRoot
  const paths = buildSortedPaths(items.length)
  return toHex(computeNodeHash({ items, writeItem, paths }, 0, paths.length, 0))
}

/** The key of an item as nibbles. */
interface Path {
  readonly index: number
  readonly nibbles: Uint8Array
}

/** A list as its trie needs it: the items, the writer of an item, and the sorted keys. */
interface TrieContents {
  /** The length of each in bytes, at least {@link minItemBytes}. */
  readonly items: readonly { readonly length: number }[]
  readonly writeItem: (index: number) => void
  readonly paths: readonly Path[]
}

/** Orders keys by their bytes: indexes 1 to 127 encode as themselves, 0 as 0x80, and larger ones start above 0x80. */
function buildSortedPaths(count: number): Path[] {
  const paths: Path[] = []
  for (let index = 1; index < count && index < 128; index++) paths.push(getPath(index))
  paths.push(getPath(0))
  for (let index = 128; index < count; index++) paths.push(getPath(index))
  return paths
}

const cachedPaths: Path[] = []
const maxCachedPaths = 1_024

function getPath(index: number): Path {
  const path = cachedPaths[index] ?? makePath(index)
  if (index === cachedPaths.length && index < maxCachedPaths) cachedPaths.push(path)
  return path
}

function makePath(index: number): Path {
  const bytes: number[] = []
  for (let rest = index; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  const key = index > 0 && index < 128 ? bytes : [0x80 + bytes.length, ...bytes]
  return { index, nibbles: Uint8Array.from(key.flatMap((byte) => [byte >> 4, byte & 15])) }
}

/** Hashes the node over the paths from `low` to before `high`, which share their first `depth` nibbles. */
function computeNodeHash(contents: TrieContents, low: number, high: number, depth: number): Uint8Array {
  const { paths } = contents
  const first = (paths[low] as Path).nibbles
  if (high - low === 1) return computeLeafHash(contents, paths[low] as Path, depth)
  const last = (paths[high - 1] as Path).nibbles
  let shared = depth
  while (first[shared] === last[shared]) shared++
  const branch = computeBranchHash(contents, low, high, shared)
  return shared === depth ? branch : computeExtensionHash(first.subarray(depth, shared), branch)
}

function computeBranchHash(contents: TrieContents, low: number, high: number, depth: number): Uint8Array {
  const { paths } = contents
  const children: (Uint8Array | undefined)[] = new Array(branchWidth)
  let count = 0
  for (let start = low; start < high; ) {
    const nibble = (paths[start] as Path).nibbles[depth] as number
    let end = start + 1
    while (end < high && (paths[end] as Path).nibbles[depth] === nibble) end++
    children[nibble] = computeNodeHash(contents, start, end, depth + 1)
    count++
    start = end
  }
  const length = count * (hashBytes + 1) + (branchWidth - count) + 1
  beginNode(length)
  for (const child of children) {
    if (child === undefined) writer.bytes[writer.at++] = 0x80
    else writeHash(child)
  }
  writer.bytes[writer.at++] = 0x80
  return keccak(writer.bytes.subarray(0, writer.at))
}

function computeExtensionHash(nibbles: Uint8Array, child: Uint8Array): Uint8Array {
  beginNode(measurePath(nibbles.length) + hashBytes + 1)
  writePath(nibbles, 0)
  writeHash(child)
  return keccak(writer.bytes.subarray(0, writer.at))
}

function computeLeafHash({ items, writeItem }: TrieContents, { index, nibbles }: Path, depth: number): Uint8Array {
  const rest = nibbles.subarray(depth)
  const length = items[index]?.length ?? 0
  beginNode(measurePath(rest.length) + measureItem(length))
  writePath(rest, 0x20)
  writer.writeHeader(0x80, length)
  writeItem(index)
  return keccak(writer.bytes.subarray(0, writer.at))
}

/** Writes the list header of a node with `length` bytes. */
function beginNode(length: number): void {
  writer.at = 0
  writer.reserve(measureItem(length))
  writer.writeHeader(0xc0, length)
}

function writeHash(hash: Uint8Array): void {
  writer.bytes[writer.at++] = 0x80 + hashBytes
  writer.bytes.set(hash, writer.at)
  writer.at += hashBytes
}

/** Bytes of an encoded path: a flag, then packed nibbles. A single byte is below 128, so it needs no header. */
function measurePath(count: number): number {
  const bytes = (count >> 1) + 1
  return bytes === 1 ? 1 : 1 + bytes
}

function writePath(nibbles: Uint8Array, flag: 0 | 0x20): void {
  const bytes = (nibbles.length >> 1) + 1
  if (bytes > 1) writer.bytes[writer.at++] = 0x80 + bytes
  const odd = nibbles.length % 2
  writer.bytes[writer.at++] = odd === 1 ? flag | 0x10 | (nibbles[0] as number) : flag
  for (let index = odd; index < nibbles.length; index += 2)
    writer.bytes[writer.at++] = ((nibbles[index] as number) << 4) | (nibbles[index + 1] as number)
}

/** @param list - In order, each item at least {@link minItemBytes} long. @returns 0x hex. */
export function computeRawListRoot(list: readonly Uint8Array[]): string {
  return computeListRoot(list, (index) => {
    const item = list[index] as Uint8Array
    writer.bytes.set(item, writer.at)
    writer.at += item.length
  })
}

/** @param all - The receipts of a block, in order. @returns `flaw` when a receipt is malformed. */
export function computeReceiptsRoot(all: readonly Fields[]): { readonly root: string } | { readonly flaw: string } {
  try {
    const measured = all.map(measureReceipt)
    return { root: computeListRoot(measured, (index) => writeReceipt(writer, measured[index] as MeasuredReceipt)) }
  } catch (error) {
    if (error instanceof UnencodableError) return { flaw: error.message }
    throw error
  }
}

// The hash of a block header, from its fields, in the order of `Header` in go-ethereum.
// Source: Ethereum yellow paper 4.3 and the EIPs that added fields (1559, 4895, 4844, 4788, 7685, 7928, 7843).
//
// A header that hashes to the block's hash is authentic, and so are its log filter and receipts root. On a chain with
// non-standard headers the hashes differ.

type Kind = 'bytes' | 'quantity'

/** JSON names, in order. */
const requiredFields: readonly (readonly [string, Kind])[] = [
  ['parentHash', 'bytes'],
  ['sha3Uncles', 'bytes'],
  ['miner', 'bytes'],
  ['stateRoot', 'bytes'],
  ['transactionsRoot', 'bytes'],
  ['receiptsRoot', 'bytes'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'bytes'],
  ['mixHash', 'bytes'],
  ['nonce', 'bytes'],
]
/** Added by later forks: a header has the first few of them. */
const addedFields: readonly (readonly [string, Kind])[] = [
  ['baseFeePerGas', 'quantity'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 'bytes'],
  ['requestsHash', 'bytes'],
  ['blockAccessListHash', 'bytes'],
  ['slotNumber', 'quantity'],
]

/** @returns 0x hex; null when a field is missing or malformed. */
export function computeHeaderHash(header: Fields): string | null {
  try {
    let length = 0
    for (const [name, kind] of requiredFields) length += measureField(header[name], kind, name)
    for (const [name, kind] of addedFields)
      if (isPresent(header[name])) length += measureField(header[name], kind, name)
    writer.at = 0
    writer.reserve(measureItem(length))
    writer.writeHeader(0xc0, length)
    for (const [name, kind] of requiredFields) writeField(header[name], kind, name)
    for (const [name, kind] of addedFields) if (isPresent(header[name])) writeField(header[name], kind, name)
    return toHex(keccak(writer.bytes.subarray(0, writer.at)))
  } catch (error) {
    if (error instanceof UnencodableError) return null
    throw error
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function measureField(value: unknown, kind: Kind, name: string): number {
  return kind === 'quantity' ? measureQuantity(parseSignificantDigits(value, name)) : measureHex(value, name)
}

function writeField(value: unknown, kind: Kind, name: string): void {
  if (kind === 'quantity') writer.writeQuantity(parseSignificantDigits(value, name), name)
  else writer.writeItem(value, countBytes(value, name), name)
}
