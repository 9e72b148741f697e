/**
 * The calls that swap before they pay, router versions 0.3 to 0.9: what the payer gives, read from calldata.
 *
 * Every one takes a single struct that begins with sender, receiver, amountIn, amountOut, memo. Uniswap and Pancake then
 * have a `path`, which the router decodes as ABI words with the token in last: (out, fee, in) or (out, fee, base, fee, in)
 * as `swapType` says. Curve then has a `route`, a fixed list of addresses with the token in first.
 * `yodlWithSwappedToken` (0.9) names only the token that is paid, so it is not a swap call here.
 * @module
 */
import { isHex, wordAt, wordToAddress, wordToOffset } from './internal/hex.js'
import type { SwapCall } from './router-decoder.js'

/** Where a struct's head begins (after an offset word when it holds a dynamic field) and where the token in is. */
type Layout =
  | { readonly venue: 'path'; readonly swapTypeWord: number }
  | { readonly venue: 'route'; readonly dynamic: boolean }

/** By selector. A test derives the same keys from the ABIs. */
export const swapLayouts: Readonly<Record<string, Layout>> = {
  '0xc9610d04': { venue: 'path', swapTypeWord: 11 }, // yodlWithUniswap 0.3
  '0xddbc8a39': { venue: 'path', swapTypeWord: 11 }, // yodlWithUniswap 0.4
  '0xb3a0a939': { venue: 'path', swapTypeWord: 10 }, // yodlWithUniswap 0.5
  '0x95ba90cb': { venue: 'path', swapTypeWord: 10 }, // yodlWithPancake 0.5
  '0xba54802e': { venue: 'path', swapTypeWord: 9 }, // yodlWithUniswap 0.6, 0.7
  '0xbe88eeaf': { venue: 'path', swapTypeWord: 9 }, // yodlWithPancake 0.6
  '0xe5417e8a': { venue: 'path', swapTypeWord: 9 }, // yodlWithUniswap 0.8, 0.9
  '0x7aa2fc43': { venue: 'path', swapTypeWord: 9 }, // yodlWithPancake 0.8
  '0x870976e1': { venue: 'route', dynamic: false }, // yodlWithCurve 0.3
  '0xd64bf9d2': { venue: 'route', dynamic: false }, // yodlWithCurve 0.4
  '0xc70994c0': { venue: 'route', dynamic: true }, // yodlWithCurve 0.6
  '0xde684ade': { venue: 'route', dynamic: true }, // yodlWithCurve 0.7
  '0x9ad8ab02': { venue: 'route', dynamic: true }, // yodlWithCurve 0.8, 0.9
}

const firstOwnWord = 5

/** Reads a swap call, or null when the calldata is another call or is malformed. It never throws. */
export function readSwapCall(calldata: string): SwapCall | null {
  const layout = swapLayouts[calldata.slice(0, 10).toLowerCase()]
  if (layout === undefined || !isHex(calldata)) return null
  const args = `0x${calldata.slice(10)}`
  const head = layout.venue === 'route' && !layout.dynamic ? 0 : wordToOffset(wordAt(args, 0))
  if (head === null) return null
  const word = (index: number) => wordAt(args, head + index * 32)
  const token = layout.venue === 'route' ? wordToAddress(word(firstOwnWord)) : lastOfPath(args, head, word, layout)
  const sender = wordToAddress(word(0))
  const receiver = wordToAddress(word(1))
  const amountIn = word(2)
  const memo = word(4)
  if (token === null || sender === null || receiver === null || amountIn === null || memo === null) return null
  return { token, amountIn: BigInt(`0x${amountIn}`), sender, receiver, memoHex: `0x${memo.toLowerCase()}` }
}

function lastOfPath(
  args: string,
  head: number,
  word: (index: number) => string | null,
  layout: { readonly swapTypeWord: number },
): string | null {
  const offset = wordToOffset(word(firstOwnWord))
  const swapType = wordToOffset(word(layout.swapTypeWord))
  if (offset === null || (swapType !== 0 && swapType !== 1)) return null
  const length = wordToOffset(wordAt(args, head + offset))
  const words = swapType === 0 ? 3 : 5
  if (length === null || length < words * 32) return null
  return wordToAddress(wordAt(args, head + offset + words * 32))
}
