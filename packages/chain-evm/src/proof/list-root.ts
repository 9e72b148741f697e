/**
 * The Merkle-Patricia root of a list, as headers commit to their receipts: the trie of RLP(index) to item.
 * Source: Ethereum yellow paper, appendix D.
 *
 * Every item must have {@link leastItemBytes}, as each receipt has by its log filter alone. Then every node of the trie
 * is referenced by its hash, and none is small enough to be embedded in another.
 * @module
 */
import { keccak } from './keccak.js'
import { headerLength, type RlpWriter, toHex } from './rlp.js'

/** The bytes of the shortest item that a list may have. */
export const leastItemBytes = 32

/** The items of a list. */
export interface ListItems {
  readonly count: number
  /** Bytes of an item: {@link leastItemBytes} or more. */
  lengthOf(index: number): number
  /** Writes exactly as many. */
  write(writer: RlpWriter, index: number): void
}

/** The root of a list without items. */
export const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

const hashBytes = 32
const branchWidth = 16
/** The longest path, in half bytes: the RLP of an index below 2^32. */
const mostNibbles = 10

/**
 * Computes the root as 0x hex.
 * @param writer - A scratch buffer; its former content is overwritten.
 */
export function listRoot(items: ListItems, writer: RlpWriter): string {
  if (items.count === 0) return emptyRoot
  const paths = sortedPaths(items.count)
  const build = { items, writer, paths }
  return toHex(nodeHash(build, 0, paths.length, 0))
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
function sortedPaths(count: number): Path[] {
  const paths: Path[] = []
  for (let index = 1; index < count && index < 128; index++) paths.push(pathOf(index))
  paths.push(pathOf(0))
  for (let index = 128; index < count; index++) paths.push(pathOf(index))
  return paths
}

/** Paths of the first indexes, which every list has. */
const known: Path[] = []
const mostKnown = 1_024

function pathOf(index: number): Path {
  const path = known[index] ?? makePath(index)
  if (index === known.length && index < mostKnown) known.push(path)
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
function nodeHash(build: Build, low: number, high: number, depth: number): Uint8Array {
  const { paths } = build
  const first = (paths[low] as Path).nibbles
  if (high - low === 1) return leafHash(build, paths[low] as Path, depth)
  const last = (paths[high - 1] as Path).nibbles
  let shared = depth
  while (first[shared] === last[shared]) shared++
  const branch = branchHash(build, low, high, shared)
  return shared === depth ? branch : extensionHash(build, first.subarray(depth, shared), branch)
}

function branchHash(build: Build, low: number, high: number, depth: number): Uint8Array {
  const { paths, writer } = build
  const children: (Uint8Array | undefined)[] = new Array(branchWidth)
  let count = 0
  for (let start = low; start < high; ) {
    const nibble = (paths[start] as Path).nibbles[depth] as number
    let end = start + 1
    while (end < high && (paths[end] as Path).nibbles[depth] === nibble) end++
    children[nibble] = nodeHash(build, start, end, depth + 1)
    count++
    start = end
  }
  const length = count * (hashBytes + 1) + (branchWidth - count) + 1
  begin(writer, length)
  for (const child of children) {
    if (child === undefined) writer.bytes[writer.at++] = 0x80
    else writeHash(writer, child)
  }
  writer.bytes[writer.at++] = 0x80
  return keccak(writer.bytes.subarray(0, writer.at))
}

function extensionHash({ writer }: Build, nibbles: Uint8Array, child: Uint8Array): Uint8Array {
  begin(writer, pathLength(nibbles.length) + hashBytes + 1)
  writePath(writer, nibbles, 0)
  writeHash(writer, child)
  return keccak(writer.bytes.subarray(0, writer.at))
}

function leafHash({ items, writer }: Build, { index, nibbles }: Path, depth: number): Uint8Array {
  const rest = nibbles.subarray(depth)
  const length = items.lengthOf(index)
  begin(writer, pathLength(rest.length) + headerLength(length) + length)
  writePath(writer, rest, 0x20)
  writer.header(0x80, length)
  items.write(writer, index)
  return keccak(writer.bytes.subarray(0, writer.at))
}

/** Starts a node whose list holds `length` bytes. */
function begin(writer: RlpWriter, length: number): void {
  writer.at = 0
  writer.reserve(headerLength(length) + length + mostNibbles)
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
