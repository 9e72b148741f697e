/** The payment object and the page of the read API. Source: docs/interface.md 2.1, 2.2. @module */
import * as z from 'zod/mini'
import { amount, chainId, instant, lowercaseAddress, type Mode, object, txHash } from './primitives.js'
import { buildSnapshotShape } from './snapshot.js'

function buildPaymentShape<M extends Mode>(mode: M) {
  return {
    ...buildSnapshotShape(mode),
    sender: lowercaseAddress,
    receiver: lowercaseAddress,
    memo: z.string(),
    blockTimestamp: instant,
    source: object(mode, { chainId, txHash }),
    tokenIn: object(mode, { address: lowercaseAddress, symbol: z.nullable(z.string()), amount }),
    tokenOut: object(mode, {
      address: lowercaseAddress,
      symbol: z.nullable(z.string()),
      amountGross: amount,
      amountNet: amount,
    }),
  }
}

/** A payment as a client reads it: accepts unknown fields and states. */
export const paymentSchema = object('read', buildPaymentShape('read'))
export const paymentWriteSchema = /* @__PURE__ */ object('write', /* @__PURE__ */ buildPaymentShape('write'))

const nextCursor = z.nullable(z.string())

/** A page of payments, newest first, as a client reads it. */
export const pageSchema = object('read', { payments: z.array(paymentSchema), nextCursor })
export const pageWriteSchema = object('write', { payments: z.array(paymentWriteSchema), nextCursor })

/** One payment of the calling integration. Identifiers are lowercased; amounts are decimals in token units. */
export type PaymentBody = z.infer<typeof paymentWriteSchema>
/** A page of payments with the cursor of the next page, or null on the last. */
export type PageBody = z.infer<typeof pageWriteSchema>
/** A payment of a possibly newer service: unknown fields and states stay. */
export type OpenPayment = z.infer<typeof paymentSchema>
/** A page of payments of a possibly newer service. */
export type OpenPage = z.infer<typeof pageSchema>
