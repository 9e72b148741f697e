/** The legacy lookup and verify shapes. Source: docs/interface.md 2.4, 4.3. @module */
import * as z from 'zod/mini'
import { type Mode, object } from './primitives.js'

/** The four verification errors, verbatim. Source: docs/interface.md 4.3. */
export const verificationErrors = [
  'Payment does not match link configuration',
  'Invalid payment address',
  'Invalid payment currency',
  'Invalid payment amount',
] as const
/** One reason why a payment did not match the verify payload. */
export type VerificationError = (typeof verificationErrors)[number]

function buildLegacyPaymentShape(mode: Mode) {
  const amountShape = { formatted: z.string(), value: z.string().check(z.regex(/^[0-9]+$/)) }
  const tokenAmount = object(mode, amountShape)
  return {
    memo: z.string(),
    receiver: z.string(),
    tokenSymbol: z.string(),
    tokenAmount,
    tokenAmountNet: tokenAmount,
    totalFees: tokenAmount,
    fees: z.array(object(mode, { type: z.string(), ...amountShape })),
    invoiceAmount: z.string(),
    invoiceCurrency: z.string(),
    conversion: z.string(),
    priceFeeds: z.array(object(mode, { name: z.string(), contract: z.string(), rate: z.string() })),
  }
}

/** Builds the schema of a transaction. @param moreFields - Fields of each payment item besides the common ones. */
function buildResultSchema<Shape extends z.core.$ZodShape>(mode: Mode, moreFields: Shape) {
  const payment = object(mode, { ...buildLegacyPaymentShape(mode), ...moreFields })
  return object(mode, { chainId: z.int(), txHash: z.string(), payments: z.array(payment) })
}

const lookupFields = { final: z.boolean() }

function buildVerifyFields(mode: Mode) {
  const error = mode === 'write' ? z.enum(verificationErrors) : z.string()
  return { final: z.optional(z.boolean()), verified: z.boolean(), verificationErrors: z.array(error) }
}

/** The lookup answer as a client reads it. */
export const lookupSchema = buildResultSchema('read', lookupFields)
export const lookupWriteSchema = buildResultSchema('write', lookupFields)
/** The verify answer (200 and 409) as a client reads it. */
export const verifyResponseSchema = buildResultSchema('read', buildVerifyFields('read'))
export const verifyResponseWriteSchema = buildResultSchema('write', buildVerifyFields('write'))

/** Longest texts in a verify request, in characters. A number is measured as a plain decimal without an exponent. */
export const verifyRequestLimits = { invoiceAmount: 100, address: 128 } as const

/**
 * The form of a currency code, such as `EUR` or `USD+`: of `invoiceCurrency`, and of every currency in a look-up.
 * Source: docs/interface.md 4.3.
 */
export const currencyCodePattern = /^[A-Z0-9.+_-]{1,16}$/

/** Body of the verify request. Source: docs/interface.md 4.3. */
export const verifyRequestSchema = object('read', {
  chainId: z.int(),
  txHash: z.string(),
  invoiceAmount: z.union([z.number(), z.string()]),
  invoiceCurrency: z.string(),
  address: z.string(),
})

/** A legacy 400: the flaws and their parameters. Source: docs/interface.md 4.3. */
export const legacyErrorBodySchema = object('read', {
  error: z.string(),
  details: z.array(object('read', { code: z.string(), message: z.string(), path: z.array(z.string()) })),
})
/** Body of a legacy 400. */
export type LegacyErrorBody = z.infer<typeof legacyErrorBodySchema>

/** All payments of one transaction. */
export type Lookup = z.infer<typeof lookupSchema>
/** All payments of one transaction, each compared with an invoice. */
export type VerifyResponse = z.infer<typeof verifyResponseSchema>
/**
 * The invoice that payments are compared with. `txHash` is 0x and 64 hex digits, `invoiceAmount` decimal text or a
 * number, `invoiceCurrency` an upper-case code, `address` the receiver's address or account handle.
 */
export type VerifyRequest = z.infer<typeof verifyRequestSchema>
