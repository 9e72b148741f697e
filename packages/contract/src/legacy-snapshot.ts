/** The legacy type snapshot and the link configuration. Source: docs/interface.md 2.4. @module */
import * as z from 'zod/mini'
import { parseUrl } from './foreign-text.js'
import { type Mode, object } from './primitives.js'

/** The flat shape of one transaction. The interface says that it may change. */
export const flatTransactionSchema = object('read', {
  chainId: z.int(),
  txHash: z.string(),
  memo: z.string(),
  receiver: z.string(),
  tokenSymbol: z.string(),
  tokenAmountGross: z.string(),
  tokenAmountNet: z.string(),
  tokenAmountGrossNative: z.string(),
  tokenAmountNetNative: z.string(),
  serviceFee: z.string(),
  invoiceAmount: z.string(),
  invoiceCurrency: z.string(),
  conversion: z.string(),
  priceFeeds: z.string(),
})

/** Limits of a stored link configuration. */
export const linkConfigLimits = { coins: 64, tokens: 256, symbolLength: 64, urlLength: 2_048 } as const

const maxLength = (max: number) => z.maxLength(max, `expected ${max} characters at most`)

/** The values of a link configuration as a client reads them, and as an account may store them. */
const valueSchemas = {
  read: { chainId: z.int(), address: z.string(), symbol: z.string(), url: z.string(), delay: z.number() },
  write: {
    chainId: z
      .int()
      .check(z.minimum(1, 'expected 1 or more'), z.maximum(999_999_999_999_999, 'expected 15 digits at most')),
    address: z.string().check(z.regex(/^0x[0-9a-fA-F]{40}$/, 'expected 0x and 40 hex digits')),
    symbol: z.string().check(z.minLength(1, 'expected a token symbol'), maxLength(linkConfigLimits.symbolLength)),
    url: z
      .string()
      .check(
        maxLength(linkConfigLimits.urlLength),
        z.refine(isWebAddress, 'expected an absolute URL with https: or http:, without spaces and without credentials'),
      ),
    delay: z.int().check(z.minimum(0, 'expected 0 or more')),
  },
}

function isWebAddress(text: string): boolean {
  // The parser silently drops control characters and spaces, but the stored URL must be the one that opens.
  if (!/^https?:\/\/[^\s\\\p{Cc}\p{Cs}]+$/iu.test(text)) return false
  const url = parseUrl(text)
  return url?.username === '' && url.password === ''
}

function buildActionSchema(mode: Mode) {
  const { url, delay } = valueSchemas[mode]
  return z.discriminatedUnion('type', [
    object(mode, { type: z.literal('NOTHING') }),
    object(mode, { type: z.literal('REDIRECT'), payload: object(mode, { url }) }),
    object(mode, { type: z.literal('CLOSE_WINDOW'), payload: object(mode, { delayMilliseconds: delay }) }),
  ])
}

function buildCoinConfigShape(mode: Mode) {
  const { chainId, address, symbol } = valueSchemas[mode]
  const tokens = z.array(object(mode, { symbol, address: z.optional(address) }))
  const limit = z.maxLength(linkConfigLimits.tokens, `expected ${linkConfigLimits.tokens} tokens at most`)
  return { chainId, defaultAddress: z.optional(address), tokens: mode === 'write' ? tokens.check(limit) : tokens }
}

/** The configuration of a payment link, as a client reads it. At every level it accepts fields that clients add. */
export const linkConfigSchema = object('read', {
  coins: z.array(object('read', buildCoinConfigShape('read'))),
  onCompleteAction: z.optional(buildActionSchema('read')),
})

/**
 * The configuration of a payment link, as an account may store it: closed, within {@link linkConfigLimits}, each chain
 * once, with well-formed URLs and addresses in any case.
 */
export const linkConfigWriteSchema = object('write', {
  coins: z.array(object('write', buildCoinConfigShape('write'))).check(
    z.maxLength(linkConfigLimits.coins, `expected ${linkConfigLimits.coins} coins at most`),
    z.refine((coins) => new Set(coins.map(({ chainId }) => chainId)).size === coins.length, 'names a chain twice'),
  ),
  onCompleteAction: z.optional(buildActionSchema('write')),
})

/** An account with its handle and link configuration. */
export const accountSchema = object('read', { address: z.string(), config: linkConfigSchema, handle: z.string() })

/** One payment of a transaction in the flat shape. */
export type FlatTransaction = z.infer<typeof flatTransactionSchema>
/** The configuration of a payment link. */
export type LinkConfig = z.infer<typeof linkConfigSchema>
/** The coins that a link accepts on one chain. */
export type CoinConfig = LinkConfig['coins'][number]
/** An account with its handle and link configuration. */
export type Account = z.infer<typeof accountSchema>
