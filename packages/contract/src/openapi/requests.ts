/**
 * Schemas of requests that allow no more than the service does. Source: docs/interface.md 4.3.
 * @module
 */
import * as z from 'zod/mini'
import { currencyCodePattern, verifyRequestLimits, verifyRequestSchema } from '../legacy.js'

/** Body of the verify request. */
export const strictVerifyRequestSchema = z.extend(verifyRequestSchema, {
  chainId: z.int().check(z.minimum(1), z.maximum(999_999_999_999_999)),
  txHash: z.string().check(z.regex(/^0x[0-9a-fA-F]{64}$/)),
  invoiceAmount: z.union([
    z.number().check(z.minimum(0)),
    z.string().check(z.maxLength(verifyRequestLimits.invoiceAmount), z.regex(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/)),
  ]),
  invoiceCurrency: z.string().check(z.regex(currencyCodePattern)),
  address: z.string().check(z.minLength(1), z.maxLength(verifyRequestLimits.address)),
})
