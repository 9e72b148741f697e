/** Makes the deliveries of versions that a file does not have. Source: docs/decisions/cells.md. @module */
import type { MoveStore, UnnotifiedVersion } from '../ports/store-moves.js'
import { nameOf } from './decide-import.js'
import type { MoveRow } from './move-row.js'

/** Deliveries of one transaction. */
const batchSize = 500

/**
 * Notifies of versions that this cell made alone: payments after the export, and later states. Versions of the file
 * that notified nobody stay so.
 * @returns How many deliveries became due.
 */
export async function addDeliveries(
  moves: MoveStore,
  address: string,
  file: AsyncIterable<readonly MoveRow[]>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const found = new Map<string, UnnotifiedVersion[]>()
  for await (const page of moves.unnotified(address))
    for (const each of page) found.set(nameOf(each), [...(found.get(nameOf(each)) ?? []), each])
  for await (const rows of file)
    for (const row of rows) {
      if (!('payment' in row)) continue
      const later = found.get(nameOf(row.payment))?.filter(({ version }) => version > row.payment.status.version)
      if (later !== undefined) found.set(nameOf(row.payment), later)
    }
  const ids = [...found.values()].flat().map(({ id }) => id)
  let added = 0
  for (let from = 0; from < ids.length; from += batchSize) {
    signal?.throwIfAborted()
    added += await moves.transaction((tx) => tx.notify(address, ids.slice(from, from + batchSize)))
  }
  return added
}
