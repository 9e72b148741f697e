/** Stores the integration of a file, from another cell. Source: docs/decisions/cells.md. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { Audited } from '../audit/audited.js'
import { IntegrationError, UpdateConflictError } from '../errors.js'
import type { ImportedIntegration, MoveCommands } from '../move-types.js'
import type { MoveReader } from '../ports/move-file.js'
import type { IntegrationRecord, SealedSecret } from '../ports/store-integrations.js'
import type { MovedPayment, MovedUpdate, MoveStore } from '../ports/store-moves.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { Clock } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import { openSecret } from '../secrets/seal.js'
import type { UpdateOutcomes } from '../updates/apply-updates.js'
import { addDeliveries } from './add-deliveries.js'
import { decideImport, nameOf } from './decide-import.js'
import { MoveError } from './move-error.js'
import { waitUntil } from './wait-until.js'

/** Payments of one transaction. */
const batchSize = 200

/** The dependencies of an import. */
export interface ImportDeps {
  readonly moves: MoveStore
  readonly transaction: <T>(work: (tx: StoreTransaction) => Promise<T>) => Promise<T>
  readonly applyUpdates: (updates: readonly ProcessorUpdate[]) => Promise<UpdateOutcomes>
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** Called when deliveries became due. */
  readonly onDue: () => void
}

/** Builds the command. */
export function createImport(deps: ImportDeps): MoveCommands['import'] {
  const { moves, transaction, audited, applyUpdates, keys, clock, onDue } = deps
  return async (file, { signal } = {}) => {
    const { sha256 } = await file.check()
    const { integration } = file
    const { address } = integration
    checkKeys(keys, integration, clock.now())
    // From now on, versions that this cell makes are deliveries, which stay pending while it is disabled.
    await transaction((tx) => putRecord(tx, { ...integration, enabled: false }))
    // A transaction that began before makes versions that notify nobody: they are found afterwards.
    await waitUntil(clock, await moves.runningWriters(), signal)
    const others = await findOtherUpdates(moves, file)
    const counts = { payments: 0, left: 0, updates: 0 }
    for await (const batch of batches(file)) {
      signal?.throwIfAborted()
      const { replaced, left } = await moves.transaction(async (tx) => {
        const stored = await importPayments(tx, address, batch.payments, others)
        await importUpdates(tx, batch.updates)
        return stored
      })
      counts.payments += replaced
      counts.left += left
      counts.updates += batch.updates.length
      await applyWaiting(applyUpdates, batch.waiting)
    }
    const added = await addDeliveries(moves, file, signal)
    await audited(async (tx, note) => {
      await putRecord(tx, { ...integration, enabled: true })
      note({ action: 'integration.imported', subject: address, details: { sha256, ...counts, added } })
    })
    onDue()
    return { sha256, ...counts, added } satisfies ImportedIntegration
  }
}

/** Nothing is issued again: the integrator notices nothing. @throws MoveError `ERR_MOVE_KEY_MISSING`. */
function checkKeys(keys: MasterKey, integration: IntegrationRecord, now: number): void {
  const { address, apiSecret, previousApiSecret, signingSecret, preparedSigningSecret, previousSigningSecret } =
    integration
  const missing = (what: string) =>
    new MoveError(
      'ERR_MOVE_KEY_MISSING',
      `The ${what} of integration ${address} needs a master key that is not configured here. Add the other cell's keys to PI_MASTER_KEY.`,
    )
  const sealed: [string, SealedSecret | null][] = [
    ['webhook secret', signingSecret],
    ['prepared webhook secret', preparedSigningSecret],
    [
      'previous webhook secret',
      previousSigningSecret !== null && now < previousSigningSecret.until ? previousSigningSecret : null,
    ],
  ]
  for (const [what, secret] of sealed) {
    if (secret === null) continue
    try {
      openSecret(keys, address, secret)
    } catch {
      throw missing(what)
    }
  }
  if (apiSecret !== null && keys.find(apiSecret.keyVersion) === undefined) throw missing('API secret')
  if (
    previousApiSecret !== null &&
    now < previousApiSecret.until &&
    keys.find(previousApiSecret.keyVersion) === undefined
  )
    throw missing('previous API secret')
}

/** @throws IntegrationError `ERR_INTEGRATION_EXISTS` when it is enabled. */
async function putRecord(tx: StoreTransaction, record: IntegrationRecord): Promise<void> {
  const { address, createdAt: _createdAt, ...change } = record
  const before = await tx.integrations.find(address)
  if (before?.enabled) throw new IntegrationError('ERR_INTEGRATION_EXISTS', address)
  if (before === null) await tx.integrations.insert(record)
  else await tx.integrations.update(address, change)
}

/**
 * The payments with updates that were decided here and that the file lacks.
 * @throws MoveError `ERR_MOVE_UPDATE_MISSING` when the file has an update with another content.
 */
async function findOtherUpdates(moves: MoveStore, file: MoveReader): Promise<ReadonlySet<string>> {
  const stored = new Map<string, MovedUpdate>()
  for await (const { decided } of moves.updates(file.integration.address))
    for (const update of decided) stored.set(update.id, update)
  for await (const rows of file.rows())
    for (const row of rows) {
      if ('waiting' in row) stored.delete(row.waiting.id)
      if ('update' in row && stored.get(row.update.id)?.fingerprint === row.update.fingerprint)
        stored.delete(row.update.id)
    }
  return new Set([...stored.values()].map(nameOf))
}

interface Batch {
  readonly payments: MovedPayment[]
  readonly updates: MovedUpdate[]
  readonly waiting: ProcessorUpdate[]
}

async function* batches(file: MoveReader): AsyncGenerator<Batch> {
  let batch: Batch = { payments: [], updates: [], waiting: [] }
  let size = 0
  for await (const rows of file.rows())
    for (const row of rows) {
      if ('payment' in row) batch.payments.push(row.payment)
      else if ('update' in row) batch.updates.push(row.update)
      else batch.waiting.push(row.waiting)
      size += 1
      if (size < batchSize) continue
      yield batch
      batch = { payments: [], updates: [], waiting: [] }
      size = 0
    }
  if (size > 0) yield batch
}

type MoveTx = Parameters<Parameters<MoveStore['transaction']>[0]>[0]

async function importPayments(
  tx: MoveTx,
  address: string,
  payments: readonly MovedPayment[],
  others: ReadonlySet<string>,
): Promise<{ readonly replaced: number; readonly left: number }> {
  const found = new Map((await tx.find(payments)).map((each) => [nameOf(each), each]))
  const replaced: { id: string; moved: MovedPayment }[] = []
  let left = 0
  for (const moved of payments) {
    const name = nameOf(moved)
    const stored = found.get(name)
    const decision = decideImport(moved, stored, others.has(name))
    if (decision === 'left') left += 1
    if (decision === 'replace' && stored !== undefined) replaced.push({ id: stored.id, moved })
  }
  await tx.replace(address, replaced)
  return { replaced: replaced.length, left }
}

async function importUpdates(tx: MoveTx, updates: readonly MovedUpdate[]): Promise<void> {
  const stored = new Set(await tx.putUpdates(updates))
  const lacking = updates.find(({ id }) => !stored.has(id))
  if (lacking === undefined) return
  throw new MoveError(
    'ERR_MOVE_UPDATE_MISSING',
    `Update ${lacking.id} of payment ${nameOf(lacking)} has another content here. Ask the processor which one is right.`,
  )
}

/** Applies updates that waited in the other cell. One that is stored here with another content stays. */
async function applyWaiting(apply: ImportDeps['applyUpdates'], updates: readonly ProcessorUpdate[]): Promise<void> {
  if (updates.length === 0) return
  for (const outcome of await apply(updates))
    if (outcome.status === 'rejected' && !(outcome.reason instanceof UpdateConflictError)) throw outcome.reason
}
