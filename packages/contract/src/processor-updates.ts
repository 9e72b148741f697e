/** Updates of a processor. Source: docs/decisions/processor-updates.md, docs/interface.md 1, 6. @module */
import * as z from 'zod/mini'
import { paymentState } from './payment-state.js'
import { chainId, object } from './primitives.js'
import { invoiceWriteSchema, recipientWriteSchema } from './snapshot.js'

/**
 * Body of a processor update. Unknown fields are rejected, so that a misspelled field is noticed. An absent `state`,
 * `recipient` or `invoice` keeps the stored value, and null clears it. `integrationAddress` is needed only if payments
 * of one transaction name different integrations.
 */
export const processorUpdateSchema = object('write', {
  id: z.string().check(z.regex(/^[\x21-\x7e]{1,128}$/, 'expected 1 to 128 printable ASCII characters')),
  chainId,
  txHash: z.string().check(z.regex(/^0x[0-9a-fA-F]{64}$/, 'expected 0x and 64 hex digits')),
  integrationAddress: z.optional(z.string().check(z.regex(/^0x[0-9a-fA-F]{40}$/, 'expected 0x and 40 hex digits'))),
  state: z.optional(z.nullable(paymentState)),
  recipient: z.optional(z.nullable(recipientWriteSchema)),
  invoice: z.optional(z.nullable(invoiceWriteSchema)),
})

/** The most updates that one request may have. */
export const maxUpdatesPerRequest = 100

/** Body of a request with several updates, which are applied in their order. */
export const processorUpdatesSchema = object('write', {
  updates: z.array(processorUpdateSchema).check(z.minLength(1), z.maxLength(maxUpdatesPerRequest)),
})

/** Every outcome of an update. */
export const updateOutcomes = ['applied', 'unchanged', 'rejected', 'waiting'] as const
/**
 * `applied` made a new version; `unchanged` changed nothing; `rejected` broke the rule in `reason`; `waiting` is stored
 * until the payment is indexed.
 */
export type UpdateOutcome = (typeof updateOutcomes)[number]

/** Answer to a processor update. */
export const updateResultSchema = object('read', {
  id: z.string(),
  outcome: z.enum(updateOutcomes),
  version: z.nullable(z.int()),
  reason: z.nullable(z.string()),
})

/**
 * Answer to several updates: the result of each, in their order. An update with `error` was not applied: its id was
 * used with different content.
 */
export const updateResultsSchema = object('read', {
  results: z.array(z.union([updateResultSchema, object('read', { id: z.string(), error: z.string() })])),
})

/** A change of a payment that a processor reports; a repeated `id` changes nothing. */
export type ProcessorUpdate = z.infer<typeof processorUpdateSchema>
/** Answer to a processor update. `version` is the payment's version after the update; null while the update waits. */
export type UpdateResult = z.infer<typeof updateResultSchema>
/** Answer to several updates. */
export type UpdateResults = z.infer<typeof updateResultsSchema>
