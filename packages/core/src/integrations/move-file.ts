/** The file of an integration that moves to another cell, and its export. Source: docs/decisions/cells.md. @module */
import { type ProcessorUpdate, processorUpdateSchema } from '@payment-integration/contract'
import { primitives, snapshotWriteSchema } from '@payment-integration/contract/internal'
import * as z from 'zod/mini'
import { CoreError, IntegrationError } from '../errors.js'
import type { Audited } from '../history/audit-log.js'
import { attemptShape, updateShape, whole } from '../history/retention.js'
import { parseAddress } from '../payments/read-api.js'
import type { Clock } from '../ports/runtime.js'
import type { MasterKey } from '../secrets/keys.js'
import { beginSignedFile, type SignedWriter } from '../secrets/signed-file.js'
import type { IntegrationCommands, IntegrationRecord, IntegrationStore, UnrecordedRange } from './integration.js'
import type { ExportedIntegration, MoveCommands, MovedPayment, MovedUpdate, MoveStore } from './move-store.js'

/** An integration cannot be moved. The message names the payment, update or key, and the remedy. */
export class MoveError extends CoreError {
  override readonly name = 'MoveError'
  readonly retryable = false
  readonly code:
    | 'ERR_MOVE_UNSUPPORTED'
    | 'ERR_MOVE_KEY_MISSING'
    | 'ERR_MOVE_UNRECORDED'
    | 'ERR_MOVE_PAYMENT_MISSING'
    | 'ERR_MOVE_PAYMENT_DIFFERS'
    | 'ERR_MOVE_UPDATE_MISSING'
    | 'ERR_MOVE_FILE_STALE'
    | 'ERR_MOVE_ROW_INVALID'
  /** With `ERR_MOVE_UNRECORDED`: the blocks to read again, by chain. */
  readonly unrecorded: readonly UnrecordedRange[]
  constructor(code: MoveError['code'], message: string, unrecorded: readonly UnrecordedRange[] = []) {
    super(message)
    this.code = code
    this.unrecorded = unrecorded
  }
}

export type MoveRow =
  | { readonly payment: MovedPayment }
  | { readonly update: MovedUpdate }
  | { readonly waiting: ProcessorUpdate }

const { state, recipient, invoice } = snapshotWriteSchema.shape

const secretHash = { keyVersion: whole, hash: z.string().check(z.regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits')) }
const sealedSecret = { keyVersion: whole, sealed: z.string().check(z.regex(/^[A-Za-z0-9_-]+$/, 'expected base64url')) }

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

const paymentKey = { chainId: z.int().check(z.positive()), txHash: primitives.txHash, ordinal: whole }

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
  z.object({ update: z.object({ ...paymentKey, ...updateShape, content: z.nullable(processorUpdateSchema) }) }),
  z.object({ waiting: processorUpdateSchema }),
])

/** Time between two checks, in milliseconds. */
const pollMs = 100

/** Polls until `isTrue` resolves true. @throws The signal's reason. */
export async function waitUntil(
  clock: Pick<Clock, 'sleep'>,
  isTrue: () => Promise<boolean>,
  signal: AbortSignal | undefined,
): Promise<void> {
  while (!(await isTrue())) {
    signal?.throwIfAborted()
    await clock.sleep(pollMs, signal)
  }
}

export interface ExportDeps {
  readonly moves: MoveStore
  readonly integrations: Pick<IntegrationStore, 'find'>
  readonly setEnabled: IntegrationCommands['setEnabled']
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'sleep'>
}

export function createExport(deps: ExportDeps): MoveCommands['export'] {
  const { moves, integrations, setEnabled, audited, keys, clock } = deps
  return async (input, create, { signal } = {}) => {
    const address = parseAddress(input)
    const record = await integrations.find(address)
    if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
    if (record.enabled) await setEnabled(address, false)
    // A claim that began earlier may still lease a delivery.
    await waitUntil(clock, await moves.runningWriters(), signal)
    await waitUntil(clock, async () => (await moves.countLeased(address)) === 0, signal)
    const disabled = await integrations.find(address)
    if (disabled === null || disabled.enabled) throw new IntegrationError('ERR_INTEGRATION_CHANGED', address)
    const file = await create()
    try {
      const writer = await beginSignedFile(keys, 'move-file', file, { integration: disabled })
      const counts = await writeRows(moves, address, writer, signal)
      if ((await integrations.find(address))?.enabled !== false)
        throw new IntegrationError('ERR_INTEGRATION_CHANGED', address)
      const { hmac } = await writer.finish()
      await audited(async (_tx, note) => {
        note({ action: 'integration.exported', subject: address, details: { hmac, ...counts } })
      })
      return { hmac, ...counts }
    } catch (error) {
      await file.discard()
      throw error
    }
  }
}

async function writeRows(
  moves: MoveStore,
  address: string,
  writer: SignedWriter,
  signal: AbortSignal | undefined,
): Promise<Omit<ExportedIntegration, 'hmac'>> {
  const counts = { payments: 0, deliveries: 0, updates: 0, waiting: 0 }
  for await (const payments of moves.payments(address)) {
    signal?.throwIfAborted()
    counts.payments += payments.length
    for (const { versions } of payments) counts.deliveries += versions.filter(({ pending }) => pending !== null).length
    await writer.write(payments.map((payment): MoveRow => ({ payment })))
  }
  for await (const { decided, waiting } of moves.updates(address)) {
    signal?.throwIfAborted()
    counts.updates += decided.length
    counts.waiting += waiting.length
    await writer.write(decided.map((update): MoveRow => ({ update })))
    await writer.write(waiting.map((each): MoveRow => ({ waiting: each })))
  }
  return counts
}
