/** `payment-integration payments export`: writes a filtered list of payments into a file. @module */
import { paymentStates } from '@payment-integration/contract'
import { Option } from 'commander'
import { createFile } from '../archive.js'
import type { Cli, Options } from '../command.js'
import { addGroup, checkTimes, momentParser, parseAddress, parseChainId, patternParser } from '../command.js'
import { asInterrupted } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { formatCount } from '../output.js'
import { type OperateOptions, withService } from '../with-service.js'

export function addPayments(cli: Cli): void {
  const example = 'export --to payments.csv --state success --since 30d'
  const parseMoment = momentParser(cli.io)
  addGroup(cli, 'payments', 'export payments', example)
    .change('export', exportPayments, example, 'export --to all.jsonl')
    .description('write matching payments to a file, newest first')
    .requiredOption('--to <file>', 'path of the new file: .csv for a table, or .jsonl for JSON lines', parseFile)
    .option('--integration <address>', 'only payments that name this integration', parseAddress)
    .option('--chain <id>', 'only payments on this chain', parseChainId)
    .addOption(new Option('--state <state>', 'only payments in this state').choices([...paymentStates, 'none']))
    .option('--since <time>', 'in a block at or after this time: 2026-03-01T09:30Z, or 2h', parseMoment)
    .option('--until <time>', 'in a block before this time', parseMoment)
}

const parseFile = patternParser(/\.(csv|jsonl)$/, 'Expected a name that ends in .csv or .jsonl.')

type ExportOptions = OperateOptions &
  Options<'integration', string> &
  Options<'chain' | 'since' | 'until', number> &
  Options<'state', (typeof paymentStates)[number] | 'none'> & { readonly to: string }

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
        report.progress(`Exporting: ${formatCount(rows, 'payment')}`)
      }
      await file.finish()
    } catch (error) {
      await file.discard()
      throw asInterrupted(error, io.signal, 'Interrupted; no file was written.')
    }
    const text = `Wrote ${to}: ${formatCount(written, 'payment')}.`
    report({ event: 'payments.exported', file: to, rows: written }, () => [text])
  })
}
