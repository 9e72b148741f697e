/** Decides what an import does with a payment and its deliveries. Source: docs/decisions/cells.md. @module */
import { isDeepStrictEqual } from 'node:util'
import type { SnapshotBody } from '@payment-integration/contract'
import { snapshotWriteSchema } from '@payment-integration/contract/internal'
import { parseForeignJson } from '@payment-integration/contract/internal-io'
import { groupBy } from '../internal/values.js'
import { buildSnapshot, type SnapshotSubject } from '../payments/change-status.js'
import type { MovedPayment, MovedPaymentKey, MovedVersion, MoveRow } from './move-store.js'
import { MoveError, type MoveStore, type StoredMove, type UnnotifiedVersion } from './move-store.js'

/** The most deliveries in one transaction. */
const batchSize = 500

/**
 * Adds deliveries for stored versions that are newer than the file's. Versions of the file get none: their deliveries
 * stay unchanged. Resolves the number of added deliveries.
 */
export async function addDeliveries(
  moves: MoveStore,
  address: string,
  batches: AsyncIterable<readonly MoveRow[]>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const unnotified: UnnotifiedVersion[] = []
  for await (const page of moves.unnotified(address)) for (const each of page) unnotified.push(each)
  const byPayment = groupBy(unnotified, formatPaymentKey)
  for await (const batch of batches)
    for (const payment of pickPayments(batch)) {
      const key = formatPaymentKey(payment)
      const later = byPayment.get(key)?.filter(({ version }) => version > payment.status.version)
      if (later !== undefined) byPayment.set(key, later)
    }
  const ids = [...byPayment.values()].flat().map(({ id }) => id)
  let added = 0
  for (let from = 0; from < ids.length; from += batchSize) {
    signal?.throwIfAborted()
    added += await moves.transaction((tx) => tx.notify(address, ids.slice(from, from + batchSize)))
  }
  return added
}

export const pickPayments = (rows: readonly MoveRow[]): MovedPayment[] =>
  rows.flatMap((row) => ('payment' in row ? [row.payment] : []))

export const formatPaymentKey = ({ chainId, txHash, ordinal }: MovedPaymentKey): string =>
  `${chainId}:${txHash}:${ordinal}`

/** @throws MoveError `ERR_MOVE_ROW_INVALID` unless each version fits the payment and the newest has its status. */
export function assertSnapshots(moved: MovedPayment, integrationAddress: string): void {
  const subject = { integrationAddress, chainId: moved.chainId, txHash: moved.txHash }
  let previousVersion = 0
  for (const { version, body } of moved.versions) {
    const isInOrder = version > previousVersion && version <= moved.status.version
    const snapshot = isInOrder ? parseSnapshot(body, subject) : null
    const expected = version === moved.status.version ? moved.status : { ...snapshot, version }
    if (snapshot === null || !isDeepStrictEqual(snapshot, { ...snapshot, ...expected }))
      throw new MoveError(
        'ERR_MOVE_ROW_INVALID',
        `Version ${version} of payment ${formatPaymentKey(moved)} in the file is no snapshot of this payment.`,
      )
    previousVersion = version
  }
}

/** Null: these are not the bytes of a snapshot of the payment. */
function parseSnapshot(body: string, subject: SnapshotSubject): SnapshotBody | null {
  try {
    const { data } = snapshotWriteSchema.safeParse(parseForeignJson(Buffer.from(body)))
    return data !== undefined && JSON.stringify(buildSnapshot(subject, data)) === body ? data : null
  } catch {
    return null
  }
}

/**
 * Versions that only this cell made were sent to nobody, so the file replaces them. `imported`: stored by an earlier
 * run. `skipped`: a dropped payment that this cell never stored. `hasOtherUpdates`: this cell decided updates on the
 * payment that the file does not have.
 */
export function decideImport(
  moved: MovedPayment,
  stored: StoredMove | undefined,
  integrationAddress: string,
  hasOtherUpdates: boolean,
): 'replace' | 'imported' | 'skipped' {
  const name = formatPaymentKey(moved)
  if (stored === undefined) {
    if (moved.dropped !== null && moved.versions.every(({ pending }) => pending === null)) return 'skipped'
    throw new MoveError(
      'ERR_MOVE_PAYMENT_MISSING',
      `Payment ${name} of block ${moved.blockNumber} is not stored here. Wait until that block is indexed, or reindex it.`,
    )
  }
  if (stored.integrationAddress !== integrationAddress)
    throw createForeignRowError(`Payment ${name}`, integrationAddress)
  if (isImported(moved, stored)) return 'imported'
  const [fileBody, ownBody] = [moved, stored].map(({ versions }) => versions.find(({ version }) => version === 1)?.body)
  if (fileBody !== undefined && ownBody !== undefined && fileBody !== ownBody)
    throw createDifferenceError(name, 'its version 1 has other bytes')
  if ((moved.dropped === null) !== (stored.dropped === null))
    throw createDifferenceError(
      name,
      'the chain dropped it in one cell alone. Export again once both cells have the same blocks',
    )
  if (moved.versions.some(({ version, pending }) => pending !== null && stored.closed.includes(version)))
    throw createDifferenceError(name, "its pending delivery is in a closed segment of this cell's history")
  if (stored.versions.some((each) => isSent(each) && !isInFile(each, moved)))
    throw new MoveError(
      'ERR_MOVE_FILE_STALE',
      `This cell has sent a version of payment ${name} that the file does not have. Import a newer file.`,
    )
  if (hasOtherUpdates)
    throw new MoveError(
      'ERR_MOVE_UPDATE_MISSING',
      `This cell applied an update to payment ${name} that the file does not have. Send it to the other cell too, and export again.`,
    )
  return 'replace'
}

/** The error of a row that belongs to another integration here. */
export const createForeignRowError = (subjectName: string, integrationAddress: string) =>
  new MoveError(
    'ERR_MOVE_ROW_INVALID',
    `${subjectName} of the file is not of integration ${integrationAddress} here. Nothing of another integration is imported.`,
  )

const createDifferenceError = (name: string, difference: string) =>
  new MoveError('ERR_MOVE_PAYMENT_DIFFERS', `Payment ${name} differs from the file: ${difference}.`)

/** Whether all versions of the file are stored. Later versions of this cell may follow. */
function isImported(moved: MovedPayment, stored: StoredMove): boolean {
  const versions = new Map(stored.versions.map((each) => [each.version, each]))
  const unclosed = moved.versions.filter(({ version }) => !stored.closed.includes(version))
  if (!unclosed.every((each) => isDeepStrictEqual(versions.get(each.version), each))) return false
  return stored.status.version > moved.status.version || isDeepStrictEqual(stored.status, moved.status)
}

const isSent = ({ notified, pending }: MovedVersion) => notified && (pending === null || pending.attempted > 0)

/** Whether the file has a sent version with all its attempts. */
function isInFile({ version, body, attempts }: MovedVersion, moved: MovedPayment): boolean {
  const fileVersion = moved.versions.find((each) => each.version === version)
  return fileVersion !== undefined && fileVersion.body === body && fileVersion.attempts.length >= attempts.length
}
