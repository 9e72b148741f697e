/** Runs many seeds and sums up their results. @module */
import type { FaultName } from './node/fault-names.js'
import type { Plan } from './world/plan.js'
import { type SeedReport, simulateSeed } from './world/simulate-seed.js'

/** The seeds to run. */
export interface RunOptions {
  readonly from: number
  readonly count: number
  readonly store: Plan['store']
  /** Receives the report of each seed at its end. */
  readonly onReport?: ((report: SeedReport) => void) | undefined
}

export interface RunSummary {
  readonly seeds: number
  /** Failed seeds. */
  readonly failed: readonly SeedReport[]
  readonly payments: number
  readonly forks: number
  readonly reorgs: number
  readonly kills: number
  readonly clockJumps: number
  readonly repairs: number
  readonly missing: number
  readonly wrong: number
  readonly repeated: number
  readonly faults: ReadonlyMap<FaultName, number>
  readonly virtualMs: number
}

/** Runs seeds one after the other. */
export async function runSeeds({ from, count, store, onReport }: RunOptions): Promise<RunSummary> {
  const failed: SeedReport[] = []
  const faults = new Map<FaultName, number>()
  const sums = {
    payments: 0,
    forks: 0,
    reorgs: 0,
    kills: 0,
    clockJumps: 0,
    repairs: 0,
    missing: 0,
    wrong: 0,
    repeated: 0,
    virtualMs: 0,
  }
  for (let seed = from; seed < from + count; seed += 1) {
    const report = await simulateSeed(seed, store)
    const { verdict } = report
    for (const name of ['forks', 'reorgs', 'kills', 'clockJumps', 'repairs', 'virtualMs'] as const)
      sums[name] += report[name]
    for (const name of ['payments', 'missing', 'wrong', 'repeated'] as const) sums[name] += verdict[name]
    for (const [name, times] of report.faults) faults.set(name, (faults.get(name) ?? 0) + times)
    if (verdict.findings.length > 0) failed.push(report)
    onReport?.(report)
  }
  return { seeds: count, failed, faults, ...sums }
}

/** Formats a seed's report, with the command that replays it. */
export function describeSeed({ plan, verdict, forks, reorgs, kills, clockJumps, repairs, faults }: SeedReport): string {
  const { seed, store, nodes, hasTwoProcesses, nearHead } = plan
  const command = `npm run simulate -- --seed=${seed}${store === 'quick' ? '' : ` --store=${store}`}`
  return [
    `seed ${seed}: ${verdict.findings.length === 0 ? 'passed' : 'FAILED'}; ${verdict.payments} payments, ${forks} forks (${plan.forks}), ` +
      `${reorgs} reorgs, ${kills} kills, ${clockJumps} clock jumps, ${repairs} repairs, ${nodes.length} nodes, ` +
      `${hasTwoProcesses ? 'two processes' : 'one process'}, ${nearHead} blocks near the head`,
    `  faults: ${[...faults].map(([name, times]) => `${name} ${times}`).join(', ') || 'none'}`,
    ...verdict.findings.map((finding) => `  ${finding}`),
    `  replay: ${command}`,
  ].join('\n')
}

/** The figures of a run as a Markdown table. */
export function buildTable(summary: RunSummary): string {
  const { failed, faults, virtualMs, ...figures } = summary
  const rows = { ...figures, 'virtual hours': Math.round(virtualMs / 3_600_000), 'failed seeds': failed.length }
  return [
    '| | |',
    '| --- | ---: |',
    ...Object.entries(rows).map(([name, value]) => `| ${name} | ${value.toLocaleString('en')} |`),
    '',
    '| fault | times |',
    '| --- | ---: |',
    ...[...faults]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, times]) => `| ${name} | ${times.toLocaleString('en')} |`),
  ].join('\n')
}
