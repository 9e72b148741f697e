/** The shapes of rows in files of ended history. Source: docs/retention.md, the files. @module */
import { primitives, processorUpdateSchema } from '@payment-integration/contract'
import * as z from 'zod/mini'
import type { ArchiveHeader, HistoryRows } from '../ports/history-archive.js'
import type { AuditAction } from '../ports/store-audit.js'

/** The key of a row in the store. */
const id = z.string().check(z.regex(/^[0-9]{1,15}$/, 'expected a number as a decimal string'))
const whole = z.int().check(z.nonnegative())
const nullableText = z.nullable(z.string())

/** An attempt without the key of its delivery. */
export const attemptShape = {
  number: z.int().check(z.positive()),
  startedAt: whole,
  latencyMs: z.number(),
  status: z.nullable(whole),
  reason: nullableText,
  excerpt: nullableText,
  replay: z.boolean(),
}

/** A decided update without the payment that it names. */
export const updateShape = {
  id: processorUpdateSchema.shape.id,
  fingerprint: z.string().check(z.regex(/^0x[0-9a-f]{32}$/, 'expected 0x and 32 hex digits')),
  outcome: z.enum(['applied', 'unchanged', 'refused']),
  reason: nullableText,
  version: z.nullable(primitives.version),
}

/** The rows of each kind. */
export const rowSchemas: { readonly [Kind in keyof HistoryRows]: z.ZodMiniType<HistoryRows[Kind]> } = {
  attempts: z.object({ deliveryId: id, ...attemptShape }),
  deliveries: z.object({
    deliveryId: id,
    paymentId: id,
    chainId: z.int().check(z.positive()),
    txHash: primitives.txHash,
    integrationAddress: z.nullable(primitives.address),
    version: primitives.version,
    createdAt: whole,
    status: z.nullable(z.enum(['delivered', 'exhausted', 'superseded'])),
    body: z.string(),
  }),
  updates: z.object({
    ...updateShape,
    seq: whole,
    paymentId: z.nullable(id),
    update: z.nullable(processorUpdateSchema),
  }),
  audit: z.object({
    seq: z.int().check(z.positive()),
    at: whole,
    actor: z.string(),
    // The chain of the log covers the action: an unknown one is of another release, and no forgery.
    action: z.custom<AuditAction>((value) => typeof value === 'string'),
    subject: z.string(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    keyVersion: whole,
    hash: z.string().check(z.regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits')),
  }),
}

/** The first line of a file. */
export const headerSchema: z.ZodMiniType<ArchiveHeader> = z.object({
  kind: z.enum(['attempts', 'deliveries', 'updates', 'audit']),
  part: whole,
  writtenAt: whole,
})
