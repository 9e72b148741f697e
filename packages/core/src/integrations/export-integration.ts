/** Exports an integration that moves to another cell. Source: docs/decisions/cells.md. @module */
import { IntegrationError } from '../errors.js'
import type { Audited } from '../history/audit-log.js'
import { parseAddress } from '../internal/parameters.js'
import type { Clock } from '../ports/runtime.js'
import type { MasterKey } from '../secrets/keys.js'
import { beginSignedFile } from '../secrets/signed-file.js'
import type { IntegrationCommands, IntegrationStore } from './integration.js'
import type { MoveCommands, MoveRow, MoveStore } from './move-store.js'

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
  readonly clock: Pick<Clock, 'now' | 'sleep'>
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
      const counts = { payments: 0, deliveries: 0, updates: 0, waiting: 0 }
      for await (const rows of readRows(moves, address)) {
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

async function* readRows(moves: MoveStore, address: string): AsyncGenerator<readonly MoveRow[]> {
  for await (const page of moves.payments(address)) yield page.map((payment) => ({ payment }))
  yield* moves.updates(address)
}
