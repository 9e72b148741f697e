/** The operator's commands for history that ends. Source: docs/retention.md. @module */
import type { EndedHistory, HistoryCommands, HistoryPlan, RetentionPolicy } from '../history-types.js'
import { findEnded } from './audit-history.js'
import { type HistoryDeps, historyOf } from './deps.js'
import { checkPolicy, endedSegments, lastOfDeliveries } from './periods.js'
import { createRestore } from './restore.js'
import { createRun } from './run.js'

/** Builds the commands. */
export function createHistoryCommands(deps: HistoryDeps): HistoryCommands {
  const { store, clock } = deps

  async function plan(policy: RetentionPolicy): Promise<HistoryPlan> {
    checkPolicy(policy)
    const history = historyOf(store)
    const now = clock.now()
    const all = endedSegments(await history.segments(), policy, now)
    const upTo = lastOfDeliveries(all)
    const pending = upTo === null ? [] : await history.pending(upTo)
    const kept = new Set(pending.map(({ segment }) => segment))
    const ended: EndedHistory[] = []
    for (const each of all) {
      if (each.kind !== 'updates' && kept.has(each.part)) continue
      const rows = await history.count(each.kind, each.part)
      if (rows > 0) ended.push({ ...each, rows })
    }
    const before = policy.audit === null ? null : now - policy.audit
    const records = before === null ? null : await findEnded(store.audit, before)
    return { ended: records === null ? ended : [...ended, records], pending }
  }

  return { plan, run: createRun(deps), restore: createRestore(deps) }
}
