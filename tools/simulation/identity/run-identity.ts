/** Runs histories of shared verifications on the real use cases; the oracle judges each. @module */
import { report } from '../../../packages/core/test/identity-oracle/first-finding.js'
import { runHistory } from '../../../packages/core/test/identity-oracle/history.js'
import { realSystem } from '../../../packages/core/test/identity-oracle/real/real-system.js'

/** The histories to run. */
export interface IdentityOptions {
  /** The first seed. */
  readonly from: number
  readonly count: number
  /** Receives each finding, as text. */
  onFinding(text: string): void
}

/** Runs histories one after the other, because a history never waits. */
export async function runIdentity({
  from,
  count,
  onFinding,
}: IdentityOptions): Promise<{ hasPassed: boolean; table: string }> {
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
  const verdict = wrong.length === 0 ? 'none breaks a rule' : `${wrong.length} break a rule: ${wrong.join(', ')}`
  return { hasPassed: wrong.length === 0, table: `identity: ${count} histories, ${seconds} s CPU; ${verdict}` }
}
