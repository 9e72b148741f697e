import { expect, test } from 'vitest'
import { chaosTable, describeChaos, runChaos } from './run-chaos.js'

/** Seeds of chaos take some seconds each. */
const [from, seeds] = [1, 100]
/** Concurrent seeds: a seed mostly waits. */
const concurrency = 3
const timeoutMs = 1_200_000

test(
  `${seeds} seeds of chaos on real chains: 0 missing, 0 wrong, 0 repeated`,
  async () => {
    const summary = await runChaos({ from, count: seeds, concurrency })
    process.stdout.write(`${chaosTable(summary)}\n`)
    expect(summary.failed.map(describeChaos).join('\n')).toBe('')
    const sum = (name: 'forks' | 'kills' | 'repairs') =>
      summary.reports.reduce((total, report) => total + report[name], 0)
    // A run without events proves nothing.
    expect(summary.reports).toHaveLength(seeds)
    expect(sum('forks')).toBeGreaterThan(seeds)
    expect(sum('kills')).toBeGreaterThan(seeds / 5)
    expect(Math.max(...summary.reports.map(({ deepest }) => deepest))).toBeGreaterThan(6)
  },
  timeoutMs,
)
