/** Runs many seeds of chaos concurrently, each on its own anvil. @module */
import type { FaultName } from '../node/fault-names.js'
import { type AnvilChain, startAnvilChain } from './anvil-chain.js'
import { buildProcess } from './build-process.js'
import { type ChaosGround, type ChaosReport, runChaosSeed } from './chaos-seed.js'
import { openHttpFront } from './http-front.js'

/** The seeds to run. */
export interface ChaosOptions {
  readonly from: number
  readonly count: number
  /** Concurrent seeds. A seed mostly waits, so twice the number of processors works well. */
  readonly concurrency: number
  /** Receives the report of each seed at its end. */
  readonly onReport?: ((report: ChaosReport) => void) | undefined
}

/** Results of the seeds. */
export interface ChaosSummary {
  readonly reports: readonly ChaosReport[]
  readonly failed: readonly ChaosReport[]
}

/** Runs seeds. It rejects when a process cannot be built or anvil does not start. */
export async function runChaos({ from, count, concurrency, onReport }: ChaosOptions): Promise<ChaosSummary> {
  const built = await buildProcess()
  const reports: ChaosReport[] = []
  let next = from
  async function work(): Promise<void> {
    if (next >= from + count) return
    const ground = await openGround(built.path)
    try {
      while (next < from + count) {
        const seed = next
        next += 1
        const report = await runChaosSeed(seed, ground)
        reports.push(report)
        onReport?.(report)
      }
    } finally {
      await ground.close()
    }
  }
  try {
    const workers = await Promise.allSettled(Array.from({ length: concurrency }, work))
    for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  } finally {
    await built.remove()
  }
  return { reports, failed: reports.filter(isFailed) }
}

async function openGround(processPath: string): Promise<ChaosGround & { close(): Promise<void> }> {
  const chain: AnvilChain = await startAnvilChain()
  const ground = {
    chain,
    processPath,
    route: async () => ({ kind: 'reset' }) as const,
  } as Omit<ChaosGround, 'front'>
  const front = await openHttpFront((request) => ground.route(request))
  return Object.assign(ground, {
    front,
    async close() {
      await front.close()
      await chain.stop()
    },
  })
}

/** Whether the store of a seed differs from the chain. */
export function isFailed({ verdict }: ChaosReport): boolean {
  return verdict.findings.length > 0
}

/** Formats a seed's report, with the command that replays it. */
export function describeChaos(report: ChaosReport): string {
  const { seed, verdict, forks, deepest, reorganisations, kills, repairs, faults, seconds } = report
  return [
    `seed ${seed}: ${isFailed(report) ? 'FAILED' : 'passed'} in ${seconds.toFixed(1)} s; ${verdict.payments} payments, ${forks} forks (up to ` +
      `${deepest} blocks), ${reorganisations} reorganisations, ${kills} kills, ${repairs} repairs`,
    `  faults: ${[...faults].map(([name, times]) => `${name} ${times}`).join(', ') || 'none'}`,
    ...verdict.findings.map((finding) => `  ${finding}`),
    `  replay: npm run soak -- --seed=${seed}`,
  ].join('\n')
}

/** The figures of a run as a Markdown table. */
export function chaosTable({ reports, failed }: ChaosSummary): string {
  const sum = (value: (report: ChaosReport) => number) => reports.reduce((total, report) => total + value(report), 0)
  const faults = new Map<FaultName, number>()
  for (const report of reports)
    for (const [name, times] of report.faults) faults.set(name, (faults.get(name) ?? 0) + times)
  const rows: readonly (readonly [string, number])[] = [
    ['seeds', reports.length],
    ['payments on the chain', sum(({ verdict }) => verdict.payments)],
    ['reorganisations by anvil', sum(({ forks }) => forks)],
    ['deepest, in blocks', Math.max(0, ...reports.map(({ deepest }) => deepest))],
    ['repairs below finality', sum(({ repairs }) => repairs)],
    ['processes killed', sum(({ kills }) => kills)],
    ...[...faults]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, times]) => [`fault: ${name}`, times] as const),
    ['**missing**', sum(({ verdict }) => verdict.missing)],
    ['**wrong**', sum(({ verdict }) => verdict.wrong)],
    ['**repeated**', sum(({ verdict }) => verdict.repeated)],
    ['seeds that failed', failed.length],
  ]
  return [
    '| | |',
    '| --- | ---: |',
    ...rows.map(([name, value]) => `| ${name} | ${value.toLocaleString('en')} |`),
  ].join('\n')
}
