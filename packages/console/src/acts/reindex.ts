/** Reads blocks of a chain again, as a job: first a dry run, then the repair that it offers. @module */
import type { ReindexReport } from '@payment-integration/core'
import { FilterError, wholeOf } from '../filters.js'
import { jobPath } from '../jobs/job-pages.js'
import type { JobReport, NextAct } from '../jobs/job-types.js'
import { paymentPath } from '../view/parts.js'
import { grouped } from '../view/text.js'
import type { Act } from './act.js'
import { ActError } from './act-error.js'

/** Fields `chain`, `from`, `to` (else the last indexed block), `repair`: `yes` writes. Leads to the job. */
export const reindexAct: Act = {
  needs: 'operator',
  async run({ fields, commands, jobs, visit, service }) {
    const [chainId, from] = [wholeOf('Chain', fields['chain'] ?? ''), wholeOf('First block', fields['from'] ?? '')]
    const checkpoint = await service.queries.checkpoint(chainId)
    if (checkpoint === null) throw new ActError(`Nothing of chain ${chainId} is indexed.`)
    const newest = checkpoint.blockNumber
    const to = fields['to'] === undefined ? newest : wholeOf('Last block', fields['to'])
    if (from > to) throw new FilterError(`First block ${from} is above last block ${to}; exchange them.`)
    if (to > newest) throw new FilterError(`Block ${to} is not indexed yet; the newest indexed one is ${newest}.`)
    const repair = fields['repair'] === 'yes'
    const range = { chainId, from, to }
    const job = jobs.start({
      title: `${repair ? 'Repair' : 'Dry run'} of chain ${chainId}, blocks ${grouped(from)} to ${grouped(to)}`,
      actor: visit.actor,
      total: to - from + 1,
      run: (report, signal) =>
        work(commands.chains.reindex({ ...range, repair }, signal), { ...range, repair }, report),
    })
    return { to: jobPath(job) }
  },
}

type Range = { readonly chainId: number; readonly from: number; readonly to: number; readonly repair: boolean }

async function work(reports: AsyncIterable<ReindexReport>, range: Range, report: JobReport): Promise<void> {
  const { chainId, from, to, repair } = range
  let [differences, repaired] = [0, 0]
  for await (const found of reports) {
    for (const { kind, txHash, ordinal, fields = [] } of found.differences)
      report.row({
        word: kind,
        tone: found.repaired ? 'good' : 'bad',
        text: `${txHash}, payment ${ordinal}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`,
        // A missing payment has a page only after the repair.
        ...(kind === 'missing' && !found.repaired ? {} : { path: paymentPath({ chainId, txHash }) }),
      })
    differences += found.differences.length
    repaired += found.repaired ? found.differences.length : 0
    const done = found.range.to - from + 1
    report({ done, words: sentenceOf({ done, differences, repaired, repair }) })
  }
  if (!repair) report({ next: repairOf({ chainId, from, to }) })
}

interface Totals {
  readonly done: number
  readonly differences: number
  readonly repaired: number
  readonly repair: boolean
}

function sentenceOf({ done, differences, repaired, repair }: Totals): string {
  const read = `${grouped(done)} ${done === 1 ? 'block' : 'blocks'} read and proven`
  if (differences === 0) return `${read}, everything is as stored.`
  const found = `${grouped(differences)} ${differences === 1 ? 'difference' : 'differences'}`
  return `${read}, ${found}, ${repair ? `${grouped(repaired)} repaired` : 'nothing was written'}.`
}

function repairOf(fields: { readonly chainId: number; readonly from: number; readonly to: number }): NextAct {
  const { chainId: chain, from, to } = fields
  return { act: 'reindex', label: 'Read them again and repair', fields: { chain, from, to, repair: 'yes' } }
}
