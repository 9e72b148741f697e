/**
 * The price feeds in a call's arguments. Source: the router's `exchangeRate`.
 *
 * Versions 0.6 and later give each feed a type: 0 none, 1 a contract, 2 a signed rate. In builds of version 0.6, an
 * address or a type makes a feed. So a first feed with an address but no type cannot be read. A second feed beside a
 * first one counts by its address.
 * @module
 */
import type { CallLayout } from './call-layouts.js'
import { uintAt, wordAt, wordToAddress, wordToOffset } from './internal/hex.js'
import type { CalledFeed, RouterCall } from './router-decoder.js'

const nobody = `0x${'0'.repeat(40)}`
const noFeed = 0n
const externalFeed = 2n
/** Longest currency code that is read, in bytes. */
const maxCodeBytes = 64

/**
 * Reads the feeds of a call.
 * @param head - Where the arguments begin in `hex`, in bytes; offsets count from there.
 * @param place - The word of the arguments where the feeds, or the offset to them, are.
 * @returns Null when they cannot be read.
 */
export function readCalledFeeds(
  form: CallLayout['feedForm'],
  hex: string,
  head: number,
  place: number,
): RouterCall['feeds'] {
  const at = head + place * 32
  if (form === 'pair') return pairOf(wordToAddress(wordAt(hex, at)), wordToAddress(wordAt(hex, at + 32)))
  const offset = wordToOffset(wordAt(hex, at))
  if (offset === null) return null
  return form === 'list' ? readList(hex, head + offset) : readStructs(hex, head + offset)
}

function pairOf(first: string | null, second: string | null): RouterCall['feeds'] {
  if (first === null || second === null) return null
  return [first === nobody ? null : { contract: first }, second === nobody ? null : { contract: second }]
}

/** Version 0.1 takes no feed or one. */
function readList(hex: string, at: number): RouterCall['feeds'] {
  const length = wordToOffset(wordAt(hex, at))
  if (length === 0) return [null, null]
  return length === 1 ? pairOf(wordToAddress(wordAt(hex, at + 32)), nobody) : null
}

interface FeedStruct {
  readonly at: number
  readonly address: string
  readonly type: bigint
}

function readStructs(hex: string, at: number): RouterCall['feeds'] {
  const first = readStruct(hex, at, 0)
  const second = readStruct(hex, at, 1)
  if (first === null || second === null) return null
  const divisor = second.address === nobody ? null : { contract: second.address }
  if (first.type === externalFeed) {
    const rate = readExternal(hex, first.at)
    return rate && [rate, divisor]
  }
  if (first.address === nobody) return [null, first.type === noFeed && second.type === noFeed ? null : divisor]
  return first.type === noFeed ? null : [{ contract: first.address }, divisor]
}

function readStruct(hex: string, list: number, index: number): FeedStruct | null {
  const offset = wordToOffset(wordAt(hex, list + index * 32))
  if (offset === null) return null
  const at = list + offset
  const address = wordToAddress(wordAt(hex, at))
  const type = uintAt(hex, at + 32)
  return address === null || type === null ? null : { at, address, type }
}

/** Fields of the struct: feedAddress, feedType, currency, amount (the rate), deadline, signature. */
function readExternal(hex: string, at: number): CalledFeed | null {
  const offset = wordToOffset(wordAt(hex, at + 64))
  const rate = uintAt(hex, at + 96)
  const length = offset === null ? null : wordToOffset(wordAt(hex, at + offset))
  if (offset === null || rate === null || length === null || length > maxCodeBytes) return null
  const start = 2 + (at + offset + 32) * 2
  if (start + length * 2 > hex.length) return null
  return { contract: null, codeHex: `0x${hex.slice(start, start + length * 2)}`, rate }
}
