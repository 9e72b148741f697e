/** Recomputes block hashes and receipts roots. Source: docs/decisions/completeness.md. @module */
import { keccak, loadKeccak } from './keccak.js'
import { type MeasuredReceipt, measureReceipt, type NodeObject, writeReceipt } from './receipts.js'
import {
  countBytes,
  headerLength,
  itemLength,
  quantityDigits,
  quantityLength,
  RlpWriter,
  toHex,
  UnencodableError,
} from './rlp.js'

// The Merkle-Patricia root of a list: the trie of RLP(index) to item. Source: Ethereum yellow paper, appendix D.
//
// Every item must have `minItemBytes`, as each receipt has by its log filter alone. Then every node of the trie
// is referenced by its hash, and none is small enough to be embedded in another.

/** The bytes of the shortest item that a list may have. */
export const minItemBytes = 32

/** The items of a list. */
interface ListItems {
  readonly count: number
  /** Bytes of an item: {@link minItemBytes} or more. */
  getLength(index: number): number
  /** Writes exactly as many. */
  write(writer: RlpWriter, index: number): void
}

/** The root of a list without items. */
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

const hashBytes = 32
const branchWidth = 16
/** The longest path, in half bytes: the RLP of an index below 2^32. */
const maxNibbles = 10

/**
 * Computes the root as 0x hex.
 * @param writer - A scratch buffer; its former content is overwritten.
 */
function computeListRoot(items: ListItems, writer: RlpWriter): string {
  if (items.count === 0) return emptyRoot
  const paths = buildSortedPaths(items.count)
  const build = { items, writer, paths }
  return toHex(computeNodeHash(build, 0, paths.length, 0))
}

/** The way to an item: half bytes of its key. */
interface Path {
  readonly index: number
  readonly nibbles: Uint8Array
}

interface Build {
  readonly items: ListItems
  readonly writer: RlpWriter
  readonly paths: readonly Path[]
}

/** Keys in the order of their bytes: 1 to 127 are bytes of their own, 0 is 0x80, and larger ones follow behind it. */
function buildSortedPaths(count: number): Path[] {
  const paths: Path[] = []
  for (let index = 1; index < count && index < 128; index++) paths.push(getPath(index))
  paths.push(getPath(0))
  for (let index = 128; index < count; index++) paths.push(getPath(index))
  return paths
}

/** Paths of the first indexes, which every list has. */
const cachedPaths: Path[] = []
const maxCachedPaths = 1_024

function getPath(index: number): Path {
  const path = cachedPaths[index] ?? makePath(index)
  if (index === cachedPaths.length && index < maxCachedPaths) cachedPaths.push(path)
  return path
}

function makePath(index: number): Path {
  const key: number[] = []
  if (index > 0 && index < 128) key.push(index)
  else {
    const bytes: number[] = []
    for (let rest = index; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
    key.push(0x80 + bytes.length, ...bytes)
  }
  return { index, nibbles: Uint8Array.from(key.flatMap((byte) => [byte >> 4, byte & 15])) }
}

/** The hash of the node over the paths from `low` to before `high`, which agree in their first `depth` half bytes. */
function computeNodeHash(build: Build, low: number, high: number, depth: number): Uint8Array {
  const { paths } = build
  const first = (paths[low] as Path).nibbles
  if (high - low === 1) return computeLeafHash(build, paths[low] as Path, depth)
  const last = (paths[high - 1] as Path).nibbles
  let shared = depth
  while (first[shared] === last[shared]) shared++
  const branch = computeBranchHash(build, low, high, shared)
  return shared === depth ? branch : computeExtensionHash(build, first.subarray(depth, shared), branch)
}

function computeBranchHash(build: Build, low: number, high: number, depth: number): Uint8Array {
  const { paths, writer } = build
  const children: (Uint8Array | undefined)[] = new Array(branchWidth)
  let count = 0
  for (let start = low; start < high; ) {
    const nibble = (paths[start] as Path).nibbles[depth] as number
    let end = start + 1
    while (end < high && (paths[end] as Path).nibbles[depth] === nibble) end++
    children[nibble] = computeNodeHash(build, start, end, depth + 1)
    count++
    start = end
  }
  const length = count * (hashBytes + 1) + (branchWidth - count) + 1
  beginNode(writer, length)
  for (const child of children) {
    if (child === undefined) writer.bytes[writer.at++] = 0x80
    else writeHash(writer, child)
  }
  writer.bytes[writer.at++] = 0x80
  return keccak(writer.bytes.subarray(0, writer.at))
}

function computeExtensionHash({ writer }: Build, nibbles: Uint8Array, child: Uint8Array): Uint8Array {
  beginNode(writer, pathLength(nibbles.length) + hashBytes + 1)
  writePath(writer, nibbles, 0)
  writeHash(writer, child)
  return keccak(writer.bytes.subarray(0, writer.at))
}

function computeLeafHash({ items, writer }: Build, { index, nibbles }: Path, depth: number): Uint8Array {
  const rest = nibbles.subarray(depth)
  const length = items.getLength(index)
  beginNode(writer, pathLength(rest.length) + headerLength(length) + length)
  writePath(writer, rest, 0x20)
  writer.header(0x80, length)
  items.write(writer, index)
  return keccak(writer.bytes.subarray(0, writer.at))
}

/** Starts a node whose list holds `length` bytes. */
function beginNode(writer: RlpWriter, length: number): void {
  writer.at = 0
  writer.reserve(headerLength(length) + length + maxNibbles)
  writer.header(0xc0, length)
}

function writeHash(writer: RlpWriter, hash: Uint8Array): void {
  writer.bytes[writer.at++] = 0x80 + hashBytes
  writer.bytes.set(hash, writer.at)
  writer.at += hashBytes
}

/** Half bytes are packed behind a flag; one byte in all stands for itself, since it is below 128. */
function pathLength(nibbles: number): number {
  const bytes = (nibbles >> 1) + 1
  return bytes === 1 ? 1 : 1 + bytes
}

function writePath(writer: RlpWriter, nibbles: Uint8Array, flag: 0 | 0x20): void {
  const bytes = (nibbles.length >> 1) + 1
  if (bytes > 1) writer.bytes[writer.at++] = 0x80 + bytes
  const odd = nibbles.length % 2
  writer.bytes[writer.at++] = odd === 1 ? flag | 0x10 | (nibbles[0] as number) : flag
  for (let index = odd; index < nibbles.length; index += 2)
    writer.bytes[writer.at++] = ((nibbles[index] as number) << 4) | (nibbles[index + 1] as number)
}

// The hash of a block header, from its fields, in the order of `Header` in go-ethereum.
// Source: Ethereum yellow paper 4.3 and the EIPs that added fields (1559, 4895, 4844, 4788, 7685, 7928, 7843).
//
// A header that hashes to the block's hash is the one that the chain agreed on, with its log filter and receipts root.
// Chains with headers of their own kind have another hash; there, this proves nothing.

type Kind = 'bytes' | 'quantity'

/** Fields by their JSON names, in order. */
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
/** Those that later forks added: a header has the first few of them. */
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

/**
 * The hash as 0x hex, or null when the header lacks a field or has one that is malformed.
 * @param writer - A scratch buffer; its former content is overwritten.
 */
function computeHeaderHash(header: NodeObject, writer: RlpWriter): string | null {
  try {
    let length = 0
    for (const [name, kind] of requiredFields) length += fieldLength(header[name], kind, name)
    for (const [name, kind] of addedFields) if (isPresent(header[name])) length += fieldLength(header[name], kind, name)
    writer.at = 0
    writer.reserve(itemLength(length))
    writer.header(0xc0, length)
    for (const [name, kind] of requiredFields) writeField(writer, header[name], kind, name)
    for (const [name, kind] of addedFields) if (isPresent(header[name])) writeField(writer, header[name], kind, name)
    return toHex(keccak(writer.bytes.subarray(0, writer.at)))
  } catch (error) {
    if (error instanceof UnencodableError) return null
    throw error
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function fieldLength(value: unknown, kind: Kind, name: string): number {
  if (kind === 'quantity') return quantityLength(quantityDigits(value, name))
  const bytes = countBytes(value, name)
  return bytes === 1 && Number.parseInt(value as string, 16) < 0x80 ? 1 : itemLength(bytes)
}

function writeField(writer: RlpWriter, value: unknown, kind: Kind, name: string): void {
  if (kind === 'quantity') writer.quantity(quantityDigits(value, name), name)
  else writer.item(value, countBytes(value, name), name)
}

/** Recomputes hashes from the objects that a node answered. */
export interface Prover {
  /** The hash of a header, or null when it is of a kind that is not known or is malformed. */
  computeHeaderHash(header: NodeObject): string | null
  /** The root of a block's receipts, in order, or what is wrong with them. */
  computeReceiptsRoot(receipts: readonly NodeObject[]): { readonly root: string } | { readonly flaw: string }
  /** The root of a list of items, in order, each of 32 bytes or more. */
  computeListRoot(items: readonly Uint8Array[]): string
}

let opened: Promise<Prover> | undefined

/** Makes the prover of this process once; all its work is synchronous, in one buffer. */
export function openProver(): Promise<Prover> {
  opened ??= loadKeccak().then(createProver)
  return opened
}

function createProver(): Prover {
  const writer = new RlpWriter()
  return {
    computeHeaderHash: (header) => computeHeaderHash(header, writer),
    computeListRoot(list) {
      const at = (index: number) => list[index] as Uint8Array
      const items = {
        count: list.length,
        getLength: (index: number) => at(index).length,
        write(into: RlpWriter, index: number) {
          into.bytes.set(at(index), into.at)
          into.at += at(index).length
        },
      }
      return computeListRoot(items, writer)
    },
    computeReceiptsRoot(receipts) {
      try {
        const measured = receipts.map(measureReceipt)
        const at = (index: number) => measured[index] as MeasuredReceipt
        const items = {
          count: measured.length,
          getLength: (index: number) => at(index).length,
          write: (into: RlpWriter, index: number) => writeReceipt(into, at(index)),
        }
        return { root: computeListRoot(items, writer) }
      } catch (error) {
        if (error instanceof UnencodableError) return { flaw: error.message }
        throw error
      }
    },
  }
}
