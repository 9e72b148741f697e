/** `payment-integration integrations export|import`: moves an integration to another cell. @module */
import type { MoveError, UnrecordedRange } from '@payment-integration/core'
import { createGzipFile, openGzipFile } from '../archive/gzip-file.js'
import { grouped } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Options of {@link exportIntegration}. */
export interface ExportOptions extends OperateOptions {
  /** Path of the new file. */
  readonly to: string
}

/**
 * Disables an integration, waits until none of its deliveries is in flight, and writes its file.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`; ArchiveError `ERR_ARCHIVE`.
 */
export function exportIntegration(address: string, { to, ...options }: ExportOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ moves }, report) => {
    const exported = await moves.export(address, () => createGzipFile(to), { signal: io.signal })
    report({ event: 'integration.exported', address, file: to, ...exported }, (event) => [
      `Wrote ${to}: ${grouped(event.payments)} payments, ${grouped(event.deliveries)} pending deliveries, ${grouped(event.updates)} updates, ${grouped(event.waiting)} waiting updates.`,
      `  hmac ${event.hmac}`,
      `${address} is disabled here, and stays so. Import the file in the other cell; do not enable it here again.`,
    ])
  })
}

/**
 * Stores the integration of a file and enables it. Run it again after a failure: it continues.
 * @throws IntegrationError `ERR_INTEGRATION_EXISTS` when it is enabled here; MoveError; ArchiveError `ERR_ARCHIVE`.
 */
export function importIntegration(path: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ moves }, report) => {
    const imported = await moves.import(openGzipFile(path), { signal: io.signal }).catch((error: unknown) => {
      const { code, unrecorded } = error as Partial<MoveError>
      if (code === 'ERR_MOVE_UNRECORDED' && unrecorded !== undefined)
        report({ event: 'integration.unrecorded', unrecorded }, () => reindexText(unrecorded))
      throw error
    })
    report({ event: 'integration.imported', ...imported }, (event) => [
      `Imported ${event.address}: ${grouped(event.payments)} payments, ${grouped(event.updates)} updates. It is enabled here.`,
      `  hmac ${event.hmac}`,
      `  ${grouped(event.added)} deliveries are due of payments and states that the file does not have.`,
      ...(event.left === 0
        ? []
        : [`  ${grouped(event.left)} dropped payments were never stored here, and were left out.`]),
    ])
  })
}

/** The commands that record an integration's payments of blocks that were read before it was registered. */
export function reindexText(unrecorded: readonly UnrecordedRange[]): string[] {
  if (unrecorded.length === 0) return []
  const commands = unrecorded.map(
    ({ chainId, from, to }) => `  payment-integration reindex --chain ${chainId} --from ${from} --to ${to}`,
  )
  return [
    'Payments in earlier blocks are not recorded (PI_RECORD=own). If it has any, read these blocks again:',
    ...commands,
  ]
}
