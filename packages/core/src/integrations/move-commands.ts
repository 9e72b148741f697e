/** Moves an integration between cells: export and import. Source: docs/decisions/cells.md. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import { IntegrationError, UpdateConflictError } from '../errors.js'
import { type CommandDeps, recordNote } from '../history/audit-log.js'
import { parseAddress, parseName } from '../internal/parameters.js'
import { checkUpdate, toSelectors, type UpdateOutcomes } from '../payments/apply-updates.js'
import { findUnrecordedRanges, lockRecording } from '../payments/recording.js'
import type { Clock } from '../ports/runtime.js'
import type { Store, StoreTransaction } from '../ports/store.js'
import type { MasterKey, SealedSecret, SecretHash } from '../secrets/keys.js'
import { openSecret } from '../secrets/seal.js'
import { beginSignedFile, openSignedFile, type SignedFile } from '../secrets/signed-file.js'
import {
  addDeliveries,
  assertSnapshots,
  createForeignRowError,
  decideImport,
  formatPaymentKey,
  pickPayments,
} from './decide-import.js'
import type { GraceEnd, IntegrationCommands, IntegrationRecord, IntegrationStore } from './integration.js'
import type { RecordingDeps } from './integration-commands.js'
import type { MoveCommands, MovedUpdate, MoveRow } from './move-store.js'
import { MoveError, type MoveStore, type MoveTransaction, moveHeaderSchema, moveRowSchema } from './move-store.js'
import { type NotificationUrlRule, parseNotificationUrl } from './notification-url.js'

const pollMs = 100

/** Polls until `isTrue` resolves true. @throws The signal's reason. */
async function waitUntil(clock: Pick<Clock, 'sleep'>, isTrue: () => Promise<boolean>, signal: AbortSignal | undefined) {
  while (!(await isTrue())) {
    signal?.throwIfAborted()
    await clock.sleep(pollMs, signal)
  }
}

interface MoveDeps extends CommandDeps, NotificationUrlRule, RecordingDeps {
  readonly moves: MoveStore
  readonly integrations: Pick<IntegrationStore, 'find'>
  readonly setEnabled: IntegrationCommands['setEnabled']
  readonly transaction: Store['transaction']
  readonly applyUpdates: (updates: readonly ProcessorUpdate[]) => Promise<UpdateOutcomes>
  /** Called when deliveries are due: wakes the dispatcher. */
  readonly onDue: () => void
}

function createExport(deps: MoveDeps): MoveCommands['export'] {
  const { moves, integrations, setEnabled, audited, keys, clock } = deps
  return async (input, create, { signal } = {}) => {
    const address = parseAddress(input)
    const record = await integrations.find(address)
    if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
    if (record.enabled) await setEnabled(address, false)
    // A claim that began earlier may still lease a delivery.
    await waitUntil(clock, await moves.createWritersEndedCheck(), signal)
    await waitUntil(clock, async () => (await moves.countLeased(address)) === 0, signal)
    const disabled = await integrations.find(address)
    if (disabled === null || disabled.enabled) throw new IntegrationError('ERR_INTEGRATION_CHANGED', address)
    const file = await create()
    try {
      const writer = await beginSignedFile(keys, 'move-file', file, { integration: disabled })
      const counts = { payments: 0, deliveries: 0, updates: 0, waiting: 0 }
      for await (const rows of readStoredRows(moves, address)) {
        signal?.throwIfAborted()
        for (const row of rows)
          if ('payment' in row) {
            counts.payments += 1
            counts.deliveries += row.payment.versions.filter(({ pending }) => pending !== null).length
          } else if ('update' in row) counts.updates += 1
          else counts.waiting += 1
        await writer.write(rows)
      }
      if ((await integrations.find(address))?.enabled !== false)
        throw new IntegrationError('ERR_INTEGRATION_CHANGED', address)
      const { hmac } = await writer.finish()
      await recordNote(audited, { action: 'integration.exported', subject: address, details: { hmac, ...counts } })
      return { hmac, ...counts }
    } catch (error) {
      await file.discard()
      throw error
    }
  }
}

async function* readStoredRows(moves: MoveStore, address: string): AsyncGenerator<readonly MoveRow[]> {
  for await (const page of moves.payments(address)) yield page.map((payment) => ({ payment }))
  yield* moves.updates(address)
}

/** The most rows in one transaction. */
const batchSize = 200
type Batches = AsyncIterable<readonly MoveRow[]>

function createImport(deps: MoveDeps): MoveCommands['import'] {
  const { moves, transaction, recording, audited, keys, clock, onDue } = deps
  return async (reader, { signal } = {}) => {
    const file = await openSignedFile(keys, 'move-file', reader, signal)
    const { integration: exported } = await file.header(moveHeaderSchema)
    const { address, name, notificationUrl } = exported
    checkKeys(keys, exported, clock.now())
    const checked = { name: parseName(name), notificationUrl: parseNotificationUrl(notificationUrl, deps) }
    const integration: IntegrationRecord = { ...exported, ...checked }
    const readRows = () => readBatches(file, address)
    const importRows = createRowImport(deps, address, readRows, signal)
    await transaction((tx) => findDisabled(tx, address))
    if (recording === 'own') await storeDisabled(deps, integration, readRows())
    // Every row is parsed and decided before the first row is stored.
    await importRows({ isRehearsal: true })
    // From now on, new versions of this cell get deliveries, which stay pending while the integration is disabled.
    await transaction((tx) => upsertIntegration(tx, { ...integration, enabled: false }))
    // Transactions that began earlier store versions without a delivery. `addDeliveries` finds these afterwards.
    await waitUntil(clock, await moves.createWritersEndedCheck(), signal)
    const counts = await importRows({ isRehearsal: false })
    const imported = { hmac: file.hmac, ...counts, added: await addDeliveries(moves, address, readRows(), signal) }
    await audited(async (tx, note) => {
      await upsertIntegration(tx, { ...integration, enabled: true })
      note({ action: 'integration.imported', subject: address, details: imported })
    })
    onDue()
    return { address, ...imported }
  }
}

/** Reads the rows in batches. @throws MoveError `ERR_MOVE_ROW_INVALID` for a row that cannot be of the integration. */
async function* readBatches(file: SignedFile, address: string): AsyncGenerator<readonly MoveRow[]> {
  function checkRow(row: MoveRow): MoveRow {
    if ('payment' in row) assertSnapshots(row.payment, address)
    if (!('waiting' in row)) return row
    const waiting = checkUpdate(row.waiting)
    if ((waiting.integrationAddress ?? address) === address) return { waiting }
    throw createForeignRowError(`Update ${waiting.id}`, address)
  }
  for await (const rows of file.rows(moveRowSchema))
    for (let from = 0; from < rows.length; from += batchSize) yield rows.slice(from, from + batchSize).map(checkRow)
}

/** Checks that the keys of this cell open all secrets that still count. @throws MoveError `ERR_MOVE_KEY_MISSING`. */
function checkKeys(keys: MasterKey, integration: IntegrationRecord, now: number): void {
  const dropExpired = <T extends GraceEnd>(secret: T | null) => (secret !== null && now < secret.until ? secret : null)
  const canUse = (secret: SealedSecret | SecretHash): boolean => {
    if ('hash' in secret) return keys.find(secret.keyVersion) !== undefined
    try {
      return openSecret(keys, integration.address, secret) !== ''
    } catch {
      return false
    }
  }
  const secrets: Readonly<Record<string, SealedSecret | SecretHash | null>> = {
    'webhook secret': integration.signingSecret,
    'prepared webhook secret': integration.preparedSigningSecret,
    'previous webhook secret': dropExpired(integration.previousSigningSecret),
    'API secret': integration.apiSecret,
    'previous API secret': dropExpired(integration.previousApiSecret),
  }
  for (const [secretName, secret] of Object.entries(secrets))
    if (secret !== null && !canUse(secret))
      throw new MoveError(
        'ERR_MOVE_KEY_MISSING',
        `The ${secretName} of integration ${integration.address} needs a master key that is not configured here. Add the other cell's keys to PI_MASTER_KEY.`,
      )
}

/** Stores a new integration, disabled. @throws MoveError `ERR_MOVE_UNRECORDED` when blocks were indexed without it. */
async function storeDisabled(deps: MoveDeps, record: IntegrationRecord, batches: Batches): Promise<void> {
  const { transaction, followed, chains } = deps
  const firstBlocks = new Map<number, number>()
  for await (const batch of batches)
    for (const { chainId, blockNumber } of pickPayments(batch))
      firstBlocks.set(chainId, Math.min(blockNumber, firstBlocks.get(chainId) ?? blockNumber))
  const recordedTo = await transaction(async (tx) => {
    const checkpoints = await lockRecording(tx, followed)
    return (await tx.integrations.insert({ ...record, enabled: false })) ? checkpoints : new Map<number, number>()
  })
  const unrecorded = await findUnrecordedRanges(chains, recordedTo, firstBlocks)
  if (unrecorded.length > 0)
    throw new MoveError(
      'ERR_MOVE_UNRECORDED',
      `Integration ${record.address} is new to this cell, which records its payments from now on. Reindex the earlier blocks, then import the file again.`,
      unrecorded,
    )
}

async function upsertIntegration(tx: StoreTransaction, record: IntegrationRecord): Promise<void> {
  const { address, createdAt: _createdAt, ...change } = record
  if ((await findDisabled(tx, address)) === null) await tx.integrations.insert(record)
  else await tx.integrations.update(address, change)
}

/** @throws IntegrationError `ERR_INTEGRATION_EXISTS` when it is enabled. */
async function findDisabled(tx: StoreTransaction, address: string): Promise<IntegrationRecord | null> {
  const record = await tx.integrations.find(address)
  if (record?.enabled) throw new IntegrationError('ERR_INTEGRATION_EXISTS', address)
  return record
}

/** Thrown to roll back the transaction of a rehearsal. */
const rehearsed = new Error('The rows of a rehearsal are not stored.')

/** Builds the function that imports the rows of a file. A rehearsal replaces no payment and rolls back. */
function createRowImport(deps: MoveDeps, address: string, readRows: () => Batches, signal: AbortSignal | undefined) {
  const { moves, transaction, applyUpdates } = deps

  /** The payments with updates that the file lacks. */
  async function findOtherUpdates(): Promise<ReadonlySet<string>> {
    const stored = new Map<string, MovedUpdate>()
    for await (const page of moves.updates(address))
      for (const row of page) if ('update' in row) stored.set(row.update.id, row.update)
    for await (const batch of readRows())
      for (const row of batch) {
        if ('waiting' in row) stored.delete(row.waiting.id)
        if ('update' in row && stored.get(row.update.id)?.fingerprint === row.update.fingerprint)
          stored.delete(row.update.id)
      }
    return new Set([...stored.values()].map(formatPaymentKey))
  }

  async function importUpdates(tx: MoveTransaction, updates: readonly MovedUpdate[]): Promise<void> {
    const stored = new Set(await tx.putUpdates(address, updates))
    const missingUpdate = updates.find(({ id }) => !stored.has(id))
    if (missingUpdate === undefined) return
    const [payment] = await tx.find([missingUpdate])
    if (payment?.integrationAddress !== address)
      throw createForeignRowError(`The payment of update ${missingUpdate.id}`, address)
    throw new MoveError(
      'ERR_MOVE_UPDATE_MISSING',
      `Update ${missingUpdate.id} of payment ${formatPaymentKey(missingUpdate)} has another content here. Ask the processor which one is right.`,
    )
  }

  /**
   * Applies updates that waited in the other cell. One that is stored with other content stays; one whose payment only
   * other integrations have is skipped.
   */
  async function applyWaitingUpdates(updates: readonly ProcessorUpdate[]): Promise<void> {
    if (updates.length === 0) return
    const payments = await transaction((tx) => tx.paymentsForChange(...toSelectors(updates)))
    const ownUpdates = updates.filter(({ chainId, txHash }) => {
      const stored = payments.filter((each) => String(each.chainId) === chainId && each.txHash === txHash)
      return stored.length === 0 || stored.some(({ integrationAddress }) => integrationAddress === address)
    })
    for (const outcome of await applyUpdates(ownUpdates))
      if (outcome.status === 'rejected' && !(outcome.reason instanceof UpdateConflictError)) throw outcome.reason
  }

  /** Resolves the number of stored payments and updates. `skipped`: dropped payments of the file, not stored here. */
  return async ({ isRehearsal }: { readonly isRehearsal: boolean }) => {
    const otherUpdates = await findOtherUpdates()
    const skipped = new Set<string>()

    async function importBatch(tx: MoveTransaction, batch: readonly MoveRow[]) {
      const payments = pickPayments(batch)
      const storedByKey = new Map((await tx.find(payments)).map((each) => [formatPaymentKey(each), each]))
      const replaced = payments.flatMap((moved) => {
        const name = formatPaymentKey(moved)
        const stored = storedByKey.get(name)
        const decision = decideImport(moved, stored, address, otherUpdates.has(name))
        if (decision === 'skipped') skipped.add(name)
        else skipped.delete(name)
        return decision === 'replace' && stored !== undefined ? [{ id: stored.id, moved }] : []
      })
      // Deliveries need the integration, which is stored after the rehearsal.
      if (!isRehearsal) await tx.replace(address, replaced)
      const decided = batch.flatMap((row) => ('update' in row ? [row.update] : []))
      const importable = decided.filter((update) => !skipped.has(formatPaymentKey(update)))
      await importUpdates(tx, importable)
      if (isRehearsal) throw rehearsed
      return { payments: replaced.length, updates: importable.length }
    }

    let [payments, updates] = [0, 0]
    for await (const batch of readRows()) {
      signal?.throwIfAborted()
      const stored = await moves
        .transaction((tx) => importBatch(tx, batch))
        .catch((error: unknown) => {
          if (error !== rehearsed) throw error
          return null
        })
      if (stored === null) continue
      payments += stored.payments
      updates += stored.updates
      await applyWaitingUpdates(batch.flatMap((row) => ('waiting' in row ? [row.waiting] : [])))
    }
    return { payments, updates, skipped: skipped.size }
  }
}

interface MoveCommandDeps extends Omit<MoveDeps, 'moves'> {
  readonly store: Pick<Store, 'moves'>
}

export function createMoveCommands({ store: { moves }, ...deps }: MoveCommandDeps): MoveCommands {
  if (moves !== null) return { export: createExport({ ...deps, moves }), import: createImport({ ...deps, moves }) }
  const message = 'This store moves no integrations; use SQLite or PostgreSQL.'
  const reject = () => Promise.reject(new MoveError('ERR_MOVE_UNSUPPORTED', message))
  return { export: reject, import: reject }
}
