/** Measures how long payments, updates and reads wait while a standby of PostgreSQL is promoted. @module */
import { loadavg } from 'node:os'
import { type FailoverReport, runFailovers } from '../../../packages/server/test/support/failovers.js'
import { pgbouncerMissing } from '../../../packages/store-sql/test/pgbouncer.js'
import { median } from '../measure.js'

/** Promotes a standby so many times at each kind of address, and returns Markdown. */
export async function benchFailover({ rounds, between }: { rounds: number; between: number }): Promise<string> {
  const before = loadavg()[0]
  const reports = [{ address: 'a relay, prepared statements', report: await run('switch') }]
  if (pgbouncerMissing === null) reports.push({ address: 'PgBouncer, none', report: await run('pgbouncer') })
  return [
    `### ${rounds} promotions of a synchronous standby under load, load ${before?.toFixed(1)}`,
    '',
    '| Address | Payments | Updates | Lost | Doubled | Gaps | POSTs again | Promoted, median | Back, median | Back, longest |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...reports.map(({ address, report }) => row(address, report)),
    '',
  ].join('\n')

  function run(through: 'switch' | 'pgbouncer') {
    return runFailovers({ rounds, through, between })
  }
}

function row(address: string, report: FailoverReport): string {
  const { confirmed, lost, doubled, gaps, differing, undelivered, reposts, promotedMs, backMs } = report
  if (differing + undelivered > 0) throw new Error(`${differing} triples differ, and ${undelivered} never arrived.`)
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`
  const counts = [confirmed.payments, confirmed.updates, lost, doubled, gaps, reposts]
  const times = [median(promotedMs), median(backMs), Math.max(...backMs)]
  return `| ${[address, ...counts.map((each) => each.toLocaleString('en')), ...times.map(seconds)].join(' | ')} |`
}
