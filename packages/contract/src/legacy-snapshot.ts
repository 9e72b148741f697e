/** The published legacy type snapshot and the link configuration. Source: INTERFACE 2.4, last two paragraphs. @module */
import * as z from 'zod/mini'
import { object } from './mode.js'

/** The flat per-transaction shape, stated as subject to change. */
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

/** What happens when a payment link completes. */
export const onCompleteActionSchema = z.discriminatedUnion('type', [
  object('read', { type: z.literal('NOTHING') }),
  object('read', { type: z.literal('REDIRECT'), payload: object('read', { url: z.string() }) }),
  object('read', { type: z.literal('CLOSE_WINDOW'), payload: object('read', { delayMilliseconds: z.number() }) }),
])

/** The coins that a link accepts on one chain. */
export const coinConfigSchema = object('read', {
  chainId: z.int(),
  defaultAddress: z.optional(z.string()),
  tokens: z.array(object('read', { symbol: z.string(), address: z.optional(z.string()) })),
})

/** What a payment link accepts. */
export const linkConfigSchema = object('read', {
  coins: z.array(coinConfigSchema),
  onCompleteAction: z.optional(onCompleteActionSchema),
})

/** An account with its handle and link configuration. */
export const accountSchema = object('read', { address: z.string(), config: linkConfigSchema, handle: z.string() })

/** The flat per-transaction shape. */
export type FlatTransaction = z.infer<typeof flatTransactionSchema>
/** What happens when a payment link completes. */
export type OnCompleteAction = z.infer<typeof onCompleteActionSchema>
/** The coins that a link accepts on one chain. */
export type CoinConfig = z.infer<typeof coinConfigSchema>
/** What a payment link accepts. */
export type LinkConfig = z.infer<typeof linkConfigSchema>
/** An account with its handle and link configuration. */
export type Account = z.infer<typeof accountSchema>
