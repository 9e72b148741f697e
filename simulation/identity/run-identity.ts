/** Runs histories of shared verifications on the real use cases; the oracle judges each. @module */
import { report } from '../../packages/core/test/identity-oracle/first-finding.js'
import { runHistory } from '../../packages/core/test/identity-oracle/history.js'
import { realSystem } from '../../packages/core/test/identity-oracle/real/real-system.js'

/** Which histories. */
export interface IdentityOptions {
  /** The first seed. */
  readonly from: number
  readonly count: number
  /** Receives each finding, as text. */
  onFinding(text: string): void
}

/** Runs them one after the other: a history never waits. */
export async function runIdentity({
  from,
  count,
  onFinding,
}: IdentityOptions): Promise<{ isRight: boolean; table: string }> {
  const wrong: number[] = []
  const started = process.cpuUsage()
  for (let seed = from; seed < from + count; seed += 1) {
    const finding = await runHistory(seed, () => realSystem())
    if (finding === null) continue
    wrong.push(seed)
    onFinding(`${report(finding)}\nnpm run soak -- --suite=identity --seed=${seed}`)
  }
  const { user, system } = process.cpuUsage(started)
  const seconds = Math.round((user + system) / 1e6)
  const verdict = wrong.length === 0 ? 'none broke a promise' : `${wrong.length} broke a promise: ${wrong.join(', ')}`
  return { isRight: wrong.length === 0, table: `identity: ${count} histories, ${seconds} s CPU; ${verdict}` }
}
