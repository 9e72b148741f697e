/** `payment-integration payments export`: writes a filtered list of payments into a file. @module */
import { paymentStates } from '@payment-integration/contract'
import { type Command, Option } from 'commander'
import { createFile } from '../archive.js'
import { addGroup, checkTimes, formParser, momentParser, parseAddress, parseChainId, type Run } from '../command.js'
import { InterruptedError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { counted } from '../output.js'
import { type OperateOptions, withService } from '../with-service.js'

export function addPayments(program: Command, run: Run, io: Io): void {
  const example = 'export --to payments.csv --state success --since 30d'
  const { change } = addGroup(program, run, 'payments', 'export payments', example)
  const parseMoment = momentParser(io.now)
  const about = 'write matching payments to a file, newest first'
  change('export', about, exportPayments, example, 'export --to all.jsonl')
    .requiredOption('--to <file>', 'path of the new file: .csv for a table, or .jsonl for JSON lines', parseFile)
    .option('--integration <address>', 'only payments that name this integration', parseAddress)
    .option('--chain <id>', 'only payments on this chain', parseChainId)
    .addOption(new Option('--state <state>', 'only payments in this state').choices([...paymentStates, 'none']))
    .option('--since <time>', 'in a block at or after this time: 2026-03-01T09:30Z, or 2h', parseMoment)
    .option('--until <time>', 'in a block before this time', parseMoment)
}

const parseFile = formParser(/\.(csv|jsonl)$/, 'Expected a name that ends in .csv or .jsonl.')

interface ExportOptions extends OperateOptions {
  readonly to: string
  readonly integration?: string
  readonly chain?: number
  readonly state?: (typeof paymentStates)[number] | 'none'
  readonly since?: number
  readonly until?: number
}

/** @throws InterruptedError `ERR_INTERRUPTED`; ArchiveError `ERR_ARCHIVE` when the file exists or cannot be written. */
function exportPayments(options: ExportOptions, io: Io): Promise<ExitCode> {
  const { to, integration: integrationAddress, chain: chainId, state, since, until } = options
  checkTimes({ since, until }, 'payment')
  const filter = { integrationAddress, chainId, state: state === 'none' ? null : state, since, until }
  return withService(options, io, async ({ queries, exportRows }, report) => {
    const file = await createFile(to)
    const how = { format: to.endsWith('.csv') ? 'csv' : 'jsonl', mayContinue: async () => !io.signal.aborted } as const
    let written = 0
    try {
      for await (const { text, rows } of exportRows(queries.paymentListing(filter), how)) {
        await file.write(Buffer.from(text))
        written = rows
        report.progress(`Exporting: ${counted(rows, 'payment')}`)
      }
      await file.finish()
    } catch (cause) {
      await file.discard()
      throw io.signal.aborted ? new InterruptedError('Interrupted; no file was written.', { cause }) : cause
    }
    const text = `Wrote ${to}: ${counted(written, 'payment')}.`
    report({ event: 'payments.exported', file: to, rows: written }, () => [text])
  })
}
