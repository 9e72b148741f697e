/** The operator's commands for history that ends. Source: docs/retention.md. @module */
import type { Audited } from '../audit/audited.js'
import type { EndedHistory, HistoryCommands, HistoryPlan, RetentionPolicy } from '../history-types.js'
import type { Store } from '../ports/store.js'
import type { HistoryStore } from '../ports/store-history.js'
import type { Clock, Random } from '../ports/world.js'
import type { AuditVerdict } from '../service-types.js'
import { findEnded } from './audit-history.js'
import { checkPolicy, endedSegments, lastOfDeliveries } from './periods.js'
import { createRestore } from './restore.js'
import { createRun } from './run.js'

/** The dependencies of the commands. */
export interface HistoryDeps {
  readonly store: Pick<Store, 'history' | 'audit' | 'leases'>
  readonly audited: Audited
  readonly verifyAudit: () => Promise<Pick<AuditVerdict, 'brokenAt'>>
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
}

/** Builds the commands. */
export function createHistoryCommands(deps: HistoryDeps): HistoryCommands {
  const { store, clock } = deps

  function historyOf(): HistoryStore {
    if (store.history === null) throw new TypeError('This store keeps its history for ever.')
    return store.history
  }

  async function plan(policy: RetentionPolicy): Promise<HistoryPlan> {
    checkPolicy(policy)
    const history = historyOf()
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

  return { plan, run: createRun(deps, historyOf), restore: createRestore(deps, historyOf) }
}
