/** Writes an integration to a file, for another cell. Source: docs/decisions/cells.md. @module */
import type { Audited } from '../audit/audited.js'
import { IntegrationError } from '../errors.js'
import type { IntegrationCommands } from '../integration-types.js'
import type { ExportedIntegration, MoveCommands } from '../move-types.js'
import { parseAddress } from '../payments/parameters.js'
import type { MoveRow, MoveWriter } from '../ports/move-file.js'
import type { IntegrationStore } from '../ports/store-integrations.js'
import type { MoveStore } from '../ports/store-moves.js'
import type { Clock } from '../ports/world.js'
import { waitUntil } from './wait-until.js'

/** The dependencies of an export. */
export interface ExportDeps {
  readonly moves: MoveStore
  readonly integrations: Pick<IntegrationStore, 'find'>
  readonly setEnabled: IntegrationCommands['setEnabled']
  readonly audited: Audited
  readonly clock: Pick<Clock, 'sleep'>
}

/** Builds the command. */
export function createExport({ moves, integrations, setEnabled, audited, clock }: ExportDeps): MoveCommands['export'] {
  return async (input, open, { signal } = {}) => {
    const address = parseAddress(input)
    const record = await integrations.find(address)
    if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
    if (record.enabled) await setEnabled(address, false)
    // A claim that began before may still lease a delivery.
    await waitUntil(clock, await moves.runningWriters(), signal)
    await waitUntil(clock, async () => (await moves.leased(address)) === 0, signal)
    const disabled = await integrations.find(address)
    if (disabled === null || disabled.enabled) throw new IntegrationError('ERR_INTEGRATION_CHANGED', address)
    const writer = await open(disabled)
    try {
      const counts = await writeRows(moves, address, writer, signal)
      const { sha256 } = await writer.finish()
      await audited(async (_tx, note) => {
        note({ action: 'integration.exported', subject: address, details: { sha256, ...counts } })
      })
      return { sha256, ...counts }
    } catch (error) {
      await writer.discard()
      throw error
    }
  }
}

async function writeRows(
  moves: MoveStore,
  address: string,
  writer: MoveWriter,
  signal: AbortSignal | undefined,
): Promise<Omit<ExportedIntegration, 'sha256'>> {
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
