/** What the commands of history need. @module */
import type { Audited } from '../audit/audited.js'
import type { Store } from '../ports/store.js'
import type { HistoryStore } from '../ports/store-history.js'
import type { Clock, Random } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { AuditVerdict } from '../service-types.js'

/** The dependencies of the commands. */
export interface HistoryDeps {
  readonly store: Pick<Store, 'history' | 'audit' | 'leases'>
  readonly audited: Audited
  readonly verifyAudit: () => Promise<Pick<AuditVerdict, 'brokenAt'>>
  /** Sign the files; former ones are checked too. */
  readonly keys: MasterKey
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
}

/** The history of a store. @throws TypeError When it is kept for ever. */
export function historyOf({ history }: Pick<Store, 'history'>): HistoryStore {
  if (history === null) throw new TypeError('This store keeps its history for ever.')
  return history
}
