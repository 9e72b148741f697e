/** Reads the router's paying calls from calldata, by the places of `call-layouts.ts`. @module */
import { type CallLayout, callLayouts } from './call-layouts.js'
import { readCalledFeeds } from './called-feeds.js'
import { isHex, uintAt, wordAt, wordToAddress, wordToOffset } from './internal/hex.js'
import type { RouterCall } from './router-decoder.js'

const zeroWord = '0'.repeat(64)
/** The first word of a swap call's path or route. */
const swapWord = 5

/** The arguments of a call: words by index, and the bytes that offsets in them count from. */
interface Arguments {
  readonly hex: string
  /** Where the words begin, in bytes. */
  readonly head: number
  readonly word: (index: number) => string | null
  readonly uint: (index: number) => bigint | null
}

/**
 * Reads a call of a router of the given version.
 * @param calldata - 0x hex; bytes behind the arguments do not matter.
 * @returns The call, or null when it is another one, one of other versions, or malformed. It never throws.
 */
export function readRouterCall(calldata: string, version: string): RouterCall | null {
  const selector = calldata.slice(0, 10).toLowerCase()
  const layout = isHex(selector) ? callLayouts[selector] : undefined
  // Most calldata is of other calls, and long: it is looked at as a whole only where it counts.
  if (!layout?.versions.includes(version) || !isHex(calldata)) return null
  const hex = `0x${calldata.slice(10).toLowerCase()}`
  const head = layout.isStruct ? wordToOffset(wordAt(hex, 0)) : 0
  if (head === null) return null
  const args: Arguments = {
    hex,
    head,
    word: (index) => wordAt(hex, head + index * 32),
    uint: (index) => uintAt(hex, head + index * 32),
  }
  const paid = layout.form === 'token' ? readTransfer(args, layout) : readSwap(args, layout)
  const extraFee = readExtraFee(args, layout)
  const convenienceFeeBps = layout.convenienceFee === null ? 0n : args.uint(layout.convenienceFee)
  if (paid === null || extraFee === undefined || convenienceFeeBps === null) return null
  return {
    ...paid,
    feeds: readCalledFeeds(layout.feedForm, hex, head, layout.feeds),
    extraFee,
    convenienceFeeBps,
  }
}

type Paid = Omit<RouterCall, 'feeds' | 'extraFee' | 'convenienceFeeBps'>

function readTransfer({ word, uint }: Arguments, { extraFee }: CallLayout): Paid | null {
  const memo = word(0)
  const amount = uint(1)
  const token = wordToAddress(word(extraFee - 2))
  const receiver = wordToAddress(word(extraFee - 1))
  if (memo === null || amount === null || token === null || receiver === null) return null
  return { sender: null, receiver, token, memoHex: `0x${memo}`, amount, swap: null }
}

function readSwap(args: Arguments, layout: CallLayout): Paid | null {
  const { word, uint } = args
  const sender = wordToAddress(word(0))
  const receiver = wordToAddress(word(1))
  const amountIn = uint(2)
  const amount = uint(3)
  const memo = word(4)
  const token = layout.form === 'route' ? wordToAddress(word(swapWord)) : lastOfPath(args, layout)
  if (sender === null || receiver === null || amountIn === null || amount === null || memo === null || token === null)
    return null
  return { sender, receiver, token: null, memoHex: `0x${memo}`, amount, swap: { token, amountIn } }
}

function lastOfPath({ hex, head, word }: Arguments, { swapType: place }: CallLayout): string | null {
  const offset = wordToOffset(word(swapWord))
  const swapType = place === null ? null : wordToOffset(word(place))
  if (offset === null || (swapType !== 0 && swapType !== 1)) return null
  const length = wordToOffset(wordAt(hex, head + offset))
  const words = swapType === 0 ? 3 : 5
  if (length === null || length < words * 32) return null
  return wordToAddress(wordAt(hex, head + offset + words * 32))
}

/** The extra fee, null when there is none, or undefined when the words are missing. */
function readExtraFee({ word, uint }: Arguments, layout: CallLayout): RouterCall['extraFee'] | undefined {
  const receiver = word(layout.extraFee)
  const size = uint(layout.extraFee + 1)
  if (receiver === null || size === null) return undefined
  if (layout.isFree || receiver === zeroWord || size === 0n) return null
  return layout.feedForm === 'list' ? { divisor: size } : { bps: size }
}
