/** The store under the real code, as the oracle reads it. @module */
import type { IdentitySubject, RedemptionRecord } from '../../../src/identity/identity-store.js'
import type { Store } from '../../../src/ports/store.js'
import { openStore } from '../../support/store.js'

/** What identity uses of a store. */
export type IdentityPorts = Pick<Store, 'transaction' | 'identity' | 'dataKeys'>

/** Committed rows. */
export interface Rows {
  /** In the order in which they were made, as all of them. */
  readonly subjects: readonly IdentitySubject[]
  readonly redemptions: readonly (Pick<
    RedemptionRecord,
    'externalUserId' | 'subjectId' | 'integrationAddress' | 'state' | 'applicantId'
  > & { readonly leasedUntil: number })[]
  readonly accounts: readonly { accountId: string; emailKey: string | null; verified: boolean }[]
}

/** A store that outlives its processes. */
export interface Backend {
  /** The store as a new process opens it. */
  connect(): IdentityPorts | Promise<IdentityPorts>
  rows(): Rows | Promise<Rows>
  /**
   * How many statements wait for a lock. A store that says so runs transactions beside each other: there are pauses
   * within them, too.
   */
  waiting?(): Promise<number>
  close(): Promise<void>
}

/** Opens an empty store. @param clock - The clock of leases, in unix milliseconds. */
export type OpenBackend = (clock: { now(): number }) => Backend | Promise<Backend>

/** SQLite: its transactions run one at a time, each within a moment. */
export const sqliteBackend: OpenBackend = (clock) => {
  const store = openStore({ clock })
  return { connect: () => store, rows: () => store.committed, close: () => store.close() }
}
