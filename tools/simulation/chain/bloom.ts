/** The filter over the logs of a block. Source: Ethereum yellow paper, section 4.3.1. @module */
import { keccak256 } from 'viem'
import { hexBytes } from './rlp.js'

/** The parts of a log that the filter covers. */
export interface FilteredLog {
  readonly address: string
  readonly topics: readonly string[]
}

const bloomBytes = 256
/** Three bits per value, each below this. */
const bits = 2048
/** Every block has the same few addresses and topics. */
const known = new Map<string, readonly number[]>()
const maxKnown = 5_000

/** The filter as 256 bytes. */
export function bloomOf(logs: readonly FilteredLog[]): Uint8Array {
  const bloom = new Uint8Array(bloomBytes)
  for (const { address, topics } of logs)
    for (const value of [address, ...topics])
      for (const bit of bitsOf(value)) {
        const at = bloomBytes - 1 - (bit >> 3)
        bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7))
      }
  return bloom
}

function bitsOf(value: string): readonly number[] {
  const cached = known.get(value)
  if (cached !== undefined) return cached
  const hash = keccak256(hexBytes(value), 'bytes')
  const found = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & (bits - 1))
  if (known.size >= maxKnown) known.clear()
  known.set(value, found)
  return found
}
