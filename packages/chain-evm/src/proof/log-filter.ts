/** Tests the `logsBloom` of a header for payment logs. Source: Ethereum yellow paper, 4.3.1 (M3:2048). @module */
import { keccak } from './keccak.js'

/**
 * Whether a block has a log of the tested addresses and topics. `no` is certain; `likely` is wrong in less than one
 * block in a thousand per router and topic; `possible` means that the filter is too full to tell.
 */
export type FilterAnswer = 'no' | 'possible' | 'likely'

/** At 640 of 2048 bits, the six bits of one address and one topic are all set by chance in 0.09 % of all blocks. */
const maxSetBits = 640
const filterBits = 2_048

/** The three bits of an address or topic: each is a position in the filter's hex text, and the bit in that digit. */
type Bits = readonly [number, number, number, number, number, number]

/** Tests the filter of a block, as 0x and 512 hex digits. */
export type FilterTest = (logsBloom: string) => FilterAnswer

/** Tests for logs of one of `addresses` whose first topic is one of `topics`. Keccak must be loaded. */
export function createFilterTest(addresses: Iterable<string>, topics: readonly string[]): FilterTest {
  const topicBits = topics.map(computeBits)
  const addressBits = [...addresses].map(computeBits)
  return (logsBloom) => {
    if (!containsAny(topicBits, logsBloom) || !containsAny(addressBits, logsBloom)) return 'no'
    return countBits(logsBloom) > maxSetBits ? 'possible' : 'likely'
  }
}

function containsAny(items: readonly Bits[], filter: string): boolean {
  for (const [first, firstBit, second, secondBit, third, thirdBit] of items)
    if (
      (digitAt(filter, first) & firstBit) !== 0 &&
      (digitAt(filter, second) & secondBit) !== 0 &&
      (digitAt(filter, third) & thirdBit) !== 0
    )
      return true
  return false
}

/** The value of a hex digit, in either case. */
function digitAt(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code < 58 ? code - 48 : (code & 15) + 9
}

function computeBits(item: string): Bits {
  const hash = keccak(Buffer.from(item.slice(2), 'hex'))
  return [0, 2, 4].flatMap((at) => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) % filterBits
    return [1 + filterBits / 4 - (bit >> 2), 1 << (bit & 3)]
  }) as readonly number[] as Bits
}

const bitsInDigit = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4] as const

function countBits(filter: string): number {
  let count = 0
  for (let index = 2; index < filter.length; index++) count += bitsInDigit[digitAt(filter, index)] ?? 0
  return count
}
