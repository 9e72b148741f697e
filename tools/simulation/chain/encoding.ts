/**
 * Encodes lists, roots and filters as a chain does. It uses no product code, because it judges the product. Source:
 * Ethereum yellow paper: appendices B (recursive length prefix) and D (Merkle Patricia trie), 4.3.1 (bloom filter).
 * @module
 */
import { keccak256 } from 'viem'

/** Bytes, or a list of items. */
export type RlpItem = Uint8Array | readonly RlpItem[]

export function encodeRlp(item: RlpItem): Uint8Array {
  if (item instanceof Uint8Array) {
    const [only = 0x80] = item
    return item.length === 1 && only < 0x80 ? item : concat([encodePrefix(0x80, item.length), item])
  }
  return encodeRlpList(item.map(encodeRlp))
}

/** Encodes a list of encoded items. */
export function encodeRlpList(encoded: readonly Uint8Array[]): Uint8Array {
  const length = encoded.reduce((sum, { length: size }) => sum + size, 0)
  return concat([encodePrefix(0xc0, length), ...encoded])
}

/** The bytes of a whole number, without leading zeros; 0 has no bytes. */
export function encodeWhole(value: number | bigint): Uint8Array {
  if (value === 0 || value === 0n) return new Uint8Array(0)
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

/** The bytes of 0x hex. */
export function parseHex(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex')
}

function encodePrefix(base: number, length: number): Uint8Array {
  if (length < 56) return Uint8Array.of(base + length)
  const size = encodeWhole(length)
  return concat([Uint8Array.of(base + 55 + size.length), size])
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}

interface Entry {
  /** Remaining nibbles of the key. */
  readonly path: readonly number[]
  readonly value: Uint8Array
}

/** The root over values whose keys are their positions. */
export function computeTrieRoot(values: readonly Uint8Array[]): `0x${string}` {
  const entries = values.map((value, index) => ({ path: splitNibbles(encodeRlp(encodeWhole(index))), value }))
  return keccak256(entries.length === 0 ? encodeRlp(new Uint8Array(0)) : encodeNode(entries))
}

/** The encoded node that holds these entries. */
function encodeNode(entries: readonly Entry[]): Uint8Array {
  const [first, ...others] = entries
  if (first === undefined) return encodeRlp(new Uint8Array(0))
  if (others.length === 0) return encodeRlpList([encodeRlp(encodePath(first.path, true)), encodeRlp(first.value)])
  const shared = countShared(entries)
  if (shared > 0) {
    const child = encodeNode(entries.map(({ path, value }) => ({ path: path.slice(shared), value })))
    return encodeRlpList([encodeRlp(encodePath(first.path.slice(0, shared), false)), encodeReference(child)])
  }
  const branches = Array.from({ length: 16 }, (_, nibble) => {
    const below = entries.filter(({ path }) => path[0] === nibble)
    if (below.length === 0) return encodeRlp(new Uint8Array(0))
    return encodeReference(encodeNode(below.map(({ path, value }) => ({ path: path.slice(1), value }))))
  })
  // No key of a list is a prefix of another one, so a branch never holds a value.
  return encodeRlpList([...branches, encodeRlp(new Uint8Array(0))])
}

/** A node of 32 bytes or more is referenced by its hash; a shorter one is embedded. */
function encodeReference(node: Uint8Array): Uint8Array {
  return node.length < 32 ? node : encodeRlp(keccak256(node, 'bytes'))
}

function countShared(entries: readonly Entry[]): number {
  const [first] = entries
  let length = 0
  while (first !== undefined && length < first.path.length) {
    const nibble = first.path[length]
    if (!entries.every(({ path }) => path[length] === nibble)) break
    length += 1
  }
  return length
}

function splitNibbles(bytes: Uint8Array): number[] {
  return [...bytes].flatMap((byte) => [byte >> 4, byte & 15])
}

function encodePath(path: readonly number[], isLeaf: boolean): Uint8Array {
  const flag = isLeaf ? 2 : 0
  const padded = path.length % 2 === 0 ? [flag, 0, ...path] : [flag + 1, ...path]
  return Uint8Array.from({ length: padded.length / 2 }, (_, index) => {
    return ((padded[2 * index] ?? 0) << 4) | (padded[2 * index + 1] ?? 0)
  })
}

/** The parts of a log that the filter covers. */
export interface FilteredLog {
  readonly address: string
  readonly topics: readonly string[]
}

const bloomBytes = 256
/** Number of bits of the filter; each value sets three of them. */
const bloomBits = 2048
/** Every block has the same few addresses and topics. */
const bitsByValue = new Map<string, readonly number[]>()
const maxCached = 5_000

/** The filter as 256 bytes. */
export function computeBloom(logs: readonly FilteredLog[]): Uint8Array {
  const bloom = new Uint8Array(bloomBytes)
  for (const { address, topics } of logs)
    for (const value of [address, ...topics])
      for (const bit of computeBits(value)) {
        const at = bloomBytes - 1 - (bit >> 3)
        bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7))
      }
  return bloom
}

function computeBits(value: string): readonly number[] {
  const cached = bitsByValue.get(value)
  if (cached !== undefined) return cached
  const hash = keccak256(parseHex(value), 'bytes')
  const positions = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & (bloomBits - 1))
  if (bitsByValue.size >= maxCached) bitsByValue.clear()
  bitsByValue.set(value, positions)
  return positions
}
