/** Parses the router's paying calls: amounts, price feeds and fees. @module */
import { bytesAt, isHex, uintAt, wordAt, wordToAddress, wordToOffset, zeroAddress } from '../rpc/hex.js'
import type { CalledFeed, RouterCall } from './router-decoder.js'

// The layouts of the router's paying calls, by selector, versions 0.1 to 0.9. A test derives them from the ABIs.
//
// `token` calls begin with memo, amount, price feeds, token, receiver and extra fee.
// `path` and `route` calls swap first: they begin with sender, receiver, amountIn, amountOut and memo.
// A `path` is bytes of ABI words with the input token last: (out, fee, in) or (out, fee, base, fee, in), by `swapType`.
// A `route` is a fixed list of addresses with the input token first.

/** Numbers are indexes of 32-byte words, from the start of the arguments or of the struct that contains them. */
interface CallLayout {
  readonly versions: readonly string[]
  readonly form: 'token' | 'path' | 'route'
  /** Whether the only argument is a dynamic struct, so that the first word is its offset. */
  readonly isStruct: boolean
  /** `list`: a dynamic array of addresses; `pair`: two addresses in place; `structs`: two dynamic structs. */
  readonly feedForm: 'list' | 'pair' | 'structs'
  readonly feeds: number
  /** The receiver of the extra fee; the fee is the next word. */
  readonly extraFee: number
  readonly swapType?: number
  readonly convenienceFee?: number
  /** The router charges no fee, whatever the arguments say. */
  readonly isFree?: true
}

const flatToken = { form: 'token', isStruct: false, feedForm: 'pair', feeds: 2, extraFee: 6 } as const
const structToken = { form: 'token', isStruct: true, feedForm: 'structs', feeds: 2, extraFee: 5 } as const
const pairPath = { form: 'path', isStruct: true, feedForm: 'pair', feeds: 6, extraFee: 8 } as const
const structPath = { form: 'path', isStruct: true, feedForm: 'structs', feeds: 6, extraFee: 7, swapType: 9 } as const
const pairRoute = { form: 'route', isStruct: false, feedForm: 'pair', feeds: 30, extraFee: 32 } as const
const structRoute = { form: 'route', isStruct: true, feedForm: 'structs' } as const

/** By lowercase selector. */
export const callLayouts: Readonly<Record<string, CallLayout>> = {
  // payWithToken, yodlWithToken
  '0x883633fe': { ...flatToken, versions: ['0.1'], feedForm: 'list', extraFee: 5 },
  '0x6404f8fe': { ...flatToken, versions: ['0.2'] },
  '0xe4de1126': { ...flatToken, versions: ['0.3'] },
  '0xb886fe04': { ...flatToken, versions: ['0.4'] },
  '0x77e9d31a': { ...flatToken, versions: ['0.5'], isStruct: true },
  '0x030d8740': { ...structToken, versions: ['0.6', '0.7'] },
  '0xd33dda5c': { ...structToken, versions: ['0.8', '0.9'] },
  // yodlWithAcross, yodlWithSwappedToken
  '0xde537614': { ...structToken, versions: ['0.8', '0.9'], isFree: true },
  '0x6f0cafb9': { ...structToken, versions: ['0.9'], convenienceFee: 10 },
  // payWithUniswap, yodlWithUniswap, yodlWithPancake
  '0x6038ce65': { ...pairPath, versions: ['0.2'], swapType: 11 },
  '0xc9610d04': { ...pairPath, versions: ['0.3'], swapType: 11 },
  '0xddbc8a39': { ...pairPath, versions: ['0.4'], swapType: 11 },
  '0xb3a0a939': { ...pairPath, versions: ['0.5'], swapType: 10 },
  '0x95ba90cb': { ...pairPath, versions: ['0.5'], swapType: 10 },
  '0xba54802e': { ...structPath, versions: ['0.6', '0.7'] },
  '0xbe88eeaf': { ...structPath, versions: ['0.6'] },
  '0xe5417e8a': { ...structPath, versions: ['0.8', '0.9'] },
  '0x7aa2fc43': { ...structPath, versions: ['0.8'] },
  // payWithCurve, yodlWithCurve
  '0x534ce2a5': { ...pairRoute, versions: ['0.2'] },
  '0x870976e1': { ...pairRoute, versions: ['0.3'] },
  '0xd64bf9d2': { ...pairRoute, versions: ['0.4'] },
  '0xc70994c0': { ...structRoute, versions: ['0.6'], feeds: 30, extraFee: 31 },
  '0xde684ade': { ...structRoute, versions: ['0.7'], feeds: 46, extraFee: 47 },
  '0x9ad8ab02': { ...structRoute, versions: ['0.8', '0.9'], feeds: 46, extraFee: 47 },
}

// The price feeds in a call's arguments. Source: the router's `exchangeRate`.
//
// From version 0.6 on each feed has a type: 0 none, 1 a contract, 2 a signed rate. Builds of version 0.6 differ in
// whether the address or the type shows that there is a feed, so a first feed with an address but no type is ambiguous.
// If there is a first feed, the second needs only an address.

const noFeed = 0n
const externalFeed = 2n
const maxCodeBytes = 64

/** Parses the feeds of a call; null when they are malformed or ambiguous. */
function parseCalledFeeds({ hex, head, word }: Arguments, { feedForm, feeds }: CallLayout): RouterCall['feeds'] {
  if (feedForm === 'pair') return toFeedPair(wordToAddress(word(feeds)), wordToAddress(word(feeds + 1)))
  const offset = wordToOffset(word(feeds))
  if (offset === null) return null
  return feedForm === 'list' ? parseFeedList(hex, head + offset) : parseFeedStructs(hex, head + offset)
}

function toFeedPair(first: string | null, second: string | null): RouterCall['feeds'] {
  if (first === null || second === null) return null
  return [first === zeroAddress ? null : { contract: first }, second === zeroAddress ? null : { contract: second }]
}

/** Version 0.1 takes no feed or one. */
function parseFeedList(hex: string, at: number): RouterCall['feeds'] {
  const length = wordToOffset(wordAt(hex, at))
  if (length === 0) return [null, null]
  return length === 1 ? toFeedPair(wordToAddress(wordAt(hex, at + 32)), zeroAddress) : null
}

function parseFeedStructs(hex: string, at: number): RouterCall['feeds'] {
  const first = parseFeedStruct(hex, at, 0)
  const second = parseFeedStruct(hex, at, 1)
  if (first === null || second === null) return null
  const divisor = second.address === zeroAddress ? null : { contract: second.address }
  if (first.type === externalFeed) {
    const rate = parseExternalFeed(hex, first.at)
    return rate && [rate, divisor]
  }
  if (first.address === zeroAddress) return [null, first.type === noFeed && second.type === noFeed ? null : divisor]
  return first.type === noFeed ? null : [{ contract: first.address }, divisor]
}

function parseFeedStruct(hex: string, list: number, index: number) {
  const offset = wordToOffset(wordAt(hex, list + index * 32))
  if (offset === null) return null
  const at = list + offset
  const address = wordToAddress(wordAt(hex, at))
  const type = uintAt(hex, at + 32)
  return address === null || type === null ? null : { at, address, type }
}

/** Fields of the struct: feedAddress, feedType, currency, amount (the rate), deadline, signature. */
function parseExternalFeed(hex: string, at: number): CalledFeed | null {
  const offset = wordToOffset(wordAt(hex, at + 64))
  const rate = uintAt(hex, at + 96)
  const code = offset === null ? null : bytesAt(hex, at + offset)
  if (rate === null || code === null || code.length > maxCodeBytes * 2) return null
  return { contract: null, codeHex: `0x${code}`, rate }
}

/** The fee of every listed router, in basis points of the gross amount. */
const serviceFeeBps = 20n
const bpsPerWhole = 10_000n

/**
 * Computes the service fee: `total`, all fees of the event, less the call's extra fee. Each fee is rounded down by
 * itself. Null when the call does not explain the total.
 */
export function computeServiceFee(
  { extraFee, convenienceFeeBps }: Pick<RouterCall, 'extraFee' | 'convenienceFeeBps'>,
  gross: bigint,
  total: bigint,
): bigint | null {
  const serviceFee = total - computeExtraFee(extraFee, gross)
  const convenienceFee = (gross * convenienceFeeBps) / bpsPerWhole
  const routerFee = (gross * serviceFeeBps) / bpsPerWhole
  return serviceFee === convenienceFee || serviceFee === convenienceFee + routerFee ? serviceFee : null
}

function computeExtraFee(fee: RouterCall['extraFee'], gross: bigint): bigint {
  if (fee === null) return 0n
  return 'divisor' in fee ? gross / fee.divisor : (gross * fee.bps) / bpsPerWhole
}

const zeroWord = '0'.repeat(64)
/** The word of a swap call's path or route. */
const pathWord = 5

type Arguments = ReturnType<typeof openArguments>

/** @param head - The byte where the words begin; offsets are relative to it. */
function openArguments(hex: string, head: number) {
  const word = (index: number) => wordAt(hex, head + index * 32)
  return { hex, head, word, uint: (index: number) => uintAt(hex, head + index * 32) }
}

/**
 * Parses a paying call of a router.
 * @param calldata - 0x hex; bytes behind the arguments are ignored.
 * @returns Null for any other call, a call of another version, and malformed calldata. Never throws.
 */
export function parseRouterCall(calldata: string, version: string): RouterCall | null {
  const selector = calldata.slice(0, 10).toLowerCase()
  const layout = isHex(selector) ? callLayouts[selector] : undefined
  // Calldata of other calls can be long, so it is validated only after the selector.
  if (!layout?.versions.includes(version) || !isHex(calldata)) return null
  const hex = `0x${calldata.slice(10).toLowerCase()}`
  const head = layout.isStruct ? wordToOffset(wordAt(hex, 0)) : 0
  if (head === null) return null
  const args = openArguments(hex, head)
  const paid = layout.form === 'token' ? parseTokenCall(args, layout) : parseSwapCall(args, layout)
  const extraFee = parseExtraFee(args, layout)
  const convenienceFeeBps = layout.convenienceFee === undefined ? 0n : args.uint(layout.convenienceFee)
  if (paid === null || extraFee === undefined || convenienceFeeBps === null) return null
  return { ...paid, feeds: parseCalledFeeds(args, layout), extraFee, convenienceFeeBps }
}

type PaidArguments = Omit<RouterCall, 'feeds' | 'extraFee' | 'convenienceFeeBps'>

function parseTokenCall({ word, uint }: Arguments, { extraFee }: CallLayout): PaidArguments | null {
  const memo = word(0)
  const amount = uint(1)
  const token = wordToAddress(word(extraFee - 2))
  const receiver = wordToAddress(word(extraFee - 1))
  if (memo === null || amount === null || token === null || receiver === null) return null
  return { sender: null, receiver, token, memoHex: `0x${memo}`, amount, swap: null }
}

function parseSwapCall(args: Arguments, layout: CallLayout): PaidArguments | null {
  const { word, uint } = args
  const sender = wordToAddress(word(0))
  const receiver = wordToAddress(word(1))
  const amountIn = uint(2)
  const amount = uint(3)
  const memo = word(4)
  const token = layout.form === 'route' ? wordToAddress(word(pathWord)) : parseLastOfPath(args, layout)
  if (sender === null || receiver === null || amountIn === null || amount === null || memo === null || token === null)
    return null
  return { sender, receiver, token: null, memoHex: `0x${memo}`, amount, swap: { token, amountIn } }
}

function parseLastOfPath({ hex, head, word }: Arguments, { swapType: swapTypeWord }: CallLayout): string | null {
  const offset = wordToOffset(word(pathWord))
  const swapType = swapTypeWord === undefined ? null : wordToOffset(word(swapTypeWord))
  if (offset === null || (swapType !== 0 && swapType !== 1)) return null
  const length = wordToOffset(wordAt(hex, head + offset))
  const words = swapType === 0 ? 3 : 5
  if (length === null || length < words * 32) return null
  return wordToAddress(wordAt(hex, head + offset + words * 32))
}

/** Null without an extra fee, undefined when the words are missing. */
function parseExtraFee({ word, uint }: Arguments, layout: CallLayout): RouterCall['extraFee'] | undefined {
  const receiver = word(layout.extraFee)
  const size = uint(layout.extraFee + 1)
  if (receiver === null || size === null) return undefined
  if (layout.isFree || receiver === zeroWord || size === 0n) return null
  return layout.feedForm === 'list' ? { divisor: size } : { bps: size }
}
