/**
 * The root of a Merkle Patricia trie over an indexed list, by its definition. Source: Ethereum yellow paper, appendix
 * D.
 * @module
 */
import { keccak256 } from 'viem'
import { encodeRlp, encodeRlpList, wholeBytes } from './rlp.js'

interface Entry {
  /** Remaining half bytes of the key. */
  readonly path: readonly number[]
  readonly value: Uint8Array
}

/** The root over values whose keys are their positions. */
export function trieRoot(values: readonly Uint8Array[]): `0x${string}` {
  const entries = values.map((value, index) => ({ path: halves(encodeRlp(wholeBytes(index))), value }))
  return keccak256(entries.length === 0 ? encodeRlp(new Uint8Array(0)) : nodeOf(entries))
}

/** The encoded node that holds these entries. */
function nodeOf(entries: readonly Entry[]): Uint8Array {
  const [first, ...others] = entries
  if (first === undefined) return encodeRlp(new Uint8Array(0))
  if (others.length === 0) return encodeRlpList([encodeRlp(compact(first.path, true)), encodeRlp(first.value)])
  const shared = sharedLength(entries)
  if (shared > 0) {
    const child = nodeOf(entries.map(({ path, value }) => ({ path: path.slice(shared), value })))
    return encodeRlpList([encodeRlp(compact(first.path.slice(0, shared), false)), reference(child)])
  }
  const branches = Array.from({ length: 16 }, (_, half) => {
    const under = entries.filter(({ path }) => path[0] === half)
    if (under.length === 0) return encodeRlp(new Uint8Array(0))
    return reference(nodeOf(under.map(({ path, value }) => ({ path: path.slice(1), value }))))
  })
  // No key of a list is a prefix of another one, so a branch never holds a value.
  return encodeRlpList([...branches, encodeRlp(new Uint8Array(0))])
}

/** A node of 32 bytes or more is referenced by its hash; a shorter one is embedded. */
function reference(node: Uint8Array): Uint8Array {
  return node.length < 32 ? node : encodeRlp(keccak256(node, 'bytes'))
}

function sharedLength(entries: readonly Entry[]): number {
  const [first] = entries
  let length = 0
  while (first !== undefined && length < first.path.length) {
    const half = first.path[length]
    if (!entries.every(({ path }) => path[length] === half)) break
    length += 1
  }
  return length
}

function halves(bytes: Uint8Array): number[] {
  return [...bytes].flatMap((byte) => [byte >> 4, byte & 15])
}

function compact(path: readonly number[], isLeaf: boolean): Uint8Array {
  const flag = isLeaf ? 2 : 0
  const padded = path.length % 2 === 0 ? [flag, 0, ...path] : [flag + 1, ...path]
  return Uint8Array.from({ length: padded.length / 2 }, (_, index) => {
    return ((padded[2 * index] ?? 0) << 4) | (padded[2 * index + 1] ?? 0)
  })
}
