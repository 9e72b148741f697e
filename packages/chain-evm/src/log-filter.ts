/**
 * Asks the `logsBloom` of a block header whether the block can hold payment logs. Source: Ethereum yellow paper, 4.3.1 (M3:2048):
 * each address and topic of a log sets three of the 2048 bits, so the filter never denies what is there.
 * @module
 */
import { hexToBytes, keccak256 } from 'viem'

/**
 * `no`: the block has no such log. `likely`: it has one, with a chance of error below one in a thousand per router and topic.
 * `possible`: the filter is so full that it says yes to much that is not there.
 */
export type FilterAnswer = 'no' | 'possible' | 'likely'

/** At 640 of 2048 bits, the six bits of one address and one topic are all set by chance in 0.09 % of all blocks. */
const mostBitsOfEvidence = 640

/**
 * Makes the question whether a block has a log of one of `addresses` whose first topic is one of `topics`.
 * @returns A function of the filter, as 0x and 512 hex digits.
 */
export function createFilterTest(
  addresses: Iterable<string>,
  topics: readonly string[],
): (logsBloom: string) => FilterAnswer {
  const topicBits = topics.map(bitsOf)
  const addressBits = [...addresses].map(bitsOf)
  return (logsBloom) => {
    const filter = BigInt(logsBloom)
    const holds = (bits: bigint) => (filter & bits) === bits
    if (!topicBits.some(holds) || !addressBits.some(holds)) return 'no'
    return countBits(filter) > mostBitsOfEvidence ? 'possible' : 'likely'
  }
}

function bitsOf(item: string): bigint {
  const hash = hexToBytes(keccak256(hexToBytes(item as `0x${string}`)))
  return [0, 2, 4].reduce(
    (bits, at) => bits | (1n << BigInt((((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047)),
    0n,
  )
}

function countBits(filter: bigint): number {
  return filter.toString(2).replaceAll('0', '').length
}
