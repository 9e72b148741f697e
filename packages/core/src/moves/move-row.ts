/** The shapes of the lines in the file that carries an integration to another cell. @module */
import {
  type ProcessorUpdate,
  primitives,
  processorUpdateSchema,
  snapshotWriteSchema,
} from '@payment-integration/contract'
import * as z from 'zod/mini'
import { attemptShape, updateShape } from '../history/row-schemas.js'
import type { IntegrationRecord } from '../ports/store-integrations.js'
import type { MovedPayment, MovedUpdate } from '../ports/store-moves.js'

/** One row of the file. */
export type MoveRow =
  | { readonly payment: MovedPayment }
  | { readonly update: MovedUpdate }
  | { readonly waiting: ProcessorUpdate }

const whole = z.int().check(z.nonnegative())
const keyVersion = whole
const { state, recipient, invoice } = snapshotWriteSchema.shape

const secretHash = {
  keyVersion,
  hash: z.string().check(z.regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits')),
}
const sealedSecret = {
  keyVersion,
  sealed: z.string().check(z.regex(/^[A-Za-z0-9_-]+$/, 'expected base64url')),
}

/** The first line. */
export const moveHeaderSchema = z.object({
  integration: z.object({
    address: primitives.address,
    name: z.string(),
    notificationUrl: z.nullable(z.string()),
    enabled: z.boolean(),
    apiSecret: z.nullable(z.object(secretHash)),
    previousApiSecret: z.nullable(z.object({ ...secretHash, until: whole })),
    signingSecret: z.object(sealedSecret),
    preparedSigningSecret: z.nullable(z.object(sealedSecret)),
    previousSigningSecret: z.nullable(z.object({ ...sealedSecret, until: whole })),
    createdAt: whole,
  }) satisfies z.ZodMiniType<IntegrationRecord>,
})

const paymentKey = {
  chainId: z.int().check(z.positive()),
  txHash: primitives.txHash,
  ordinal: whole,
}

const moveVersion = z.object({
  version: primitives.version,
  body: z.string(),
  createdAt: whole,
  notified: z.boolean(),
  undelivered: z.nullable(z.enum(['exhausted', 'superseded'])),
  pending: z.nullable(
    z.object({
      lane: z.int().check(z.minimum(0), z.maximum(2)),
      dueAt: whole,
      replayedAt: z.nullable(whole),
      attempted: whole,
      scheduleFrom: whole,
    }),
  ),
  attempts: z.array(z.object(attemptShape)),
})

/** The other lines. */
export const moveRowSchema: z.ZodMiniType<MoveRow> = z.union([
  z.object({
    payment: z.object({
      ...paymentKey,
      blockNumber: whole,
      status: z.object({ version: primitives.version, state, recipient, invoice }),
      dropped: z.nullable(z.object({ formerState: state })),
      versions: z.array(moveVersion),
    }),
  }),
  z.object({
    update: z.object({ ...paymentKey, ...updateShape, content: z.nullable(processorUpdateSchema) }),
  }),
  z.object({ waiting: processorUpdateSchema }),
])
