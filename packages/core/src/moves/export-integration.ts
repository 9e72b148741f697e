/** Writes an integration to a file, for another cell. Source: docs/decisions/cells.md. @module */
import type { Audited } from '../audit/audited.js'
import { IntegrationError } from '../errors.js'
import type { IntegrationCommands } from '../integration-types.js'
import type { ExportedIntegration, MoveCommands } from '../move-types.js'
import { parseAddress } from '../payments/parameters.js'
import type { IntegrationStore } from '../ports/store-integrations.js'
import type { MoveStore } from '../ports/store-moves.js'
import type { Clock } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import { beginSignedFile, type SignedWriter } from '../secrets/signed-file.js'
import type { MoveRow } from './move-row.js'
import { waitUntil } from './wait-until.js'

/** The dependencies of an export. */
export interface ExportDeps {
  readonly moves: MoveStore
  readonly integrations: Pick<IntegrationStore, 'find'>
  readonly setEnabled: IntegrationCommands['setEnabled']
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'sleep'>
}

/** Builds the command. */
export function createExport(deps: ExportDeps): MoveCommands['export'] {
  const { moves, integrations, setEnabled, audited, keys, clock } = deps
  return async (input, create, { signal } = {}) => {
    const address = parseAddress(input)
    const record = await integrations.find(address)
    if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
    if (record.enabled) await setEnabled(address, false)
    // A claim that began before may still lease a delivery.
    await waitUntil(clock, await moves.runningWriters(), signal)
    await waitUntil(clock, async () => (await moves.leased(address)) === 0, signal)
    const disabled = await integrations.find(address)
    if (disabled === null || disabled.enabled) throw new IntegrationError('ERR_INTEGRATION_CHANGED', address)
    const file = await create()
    try {
      const writer = await beginSignedFile(keys, 'move-file', file, { integration: disabled })
      const counts = await writeRows(moves, address, writer, signal)
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
