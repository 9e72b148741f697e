/**
 * Writes changes and their audit record in one transaction. Source: docs/decisions/audit.md.
 * @module
 */
import type { Store } from '../ports/store.js'
import type { AuditEntry } from '../ports/store-audit.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { Clock } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import { beforeFirst, hashRecord } from './chain.js'

/** The audit record of a change. */
export type AuditNote = Pick<AuditEntry, 'action' | 'subject'> & Partial<Pick<AuditEntry, 'details'>>

/**
 * Runs `work` in a transaction and adds its notes to the audit log. The log is locked first, so that changes happen one
 * after the other. `work` may run again, and must only touch `tx`.
 */
export type Audited = <T>(work: (tx: StoreTransaction, note: (note: AuditNote) => void) => Promise<T>) => Promise<T>

/** The dependencies of audited changes. */
export interface AuditedDeps {
  readonly transaction: Store['transaction']
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  /** The person or program that acts. */
  readonly actor: string
}

/** The longest name of an actor, in characters. */
const actorLength = 200

/**
 * Builds it.
 * @throws RangeError When the actor is blank or longer than 200 characters.
 */
export function createAudited({ transaction, keys, clock, actor }: AuditedDeps): Audited {
  if (actor.trim() === '' || actor.length > actorLength)
    throw new RangeError(`actor has ${actor.length} characters; pass 1 to ${actorLength} that are not all blank.`)
  return (work) =>
    transaction(async (tx) => {
      const newest = await tx.lockAudit()
      const notes: AuditNote[] = []
      const value = await work(tx, (note) => void notes.push(note))
      let { seq, hash } = newest ?? { seq: 0, hash: beforeFirst }
      for (const { action, subject, details = {} } of notes) {
        seq += 1
        const entry = { seq, at: clock.now(), actor, action, subject, details, keyVersion: keys.current.version }
        hash = hashRecord(keys.current, hash, entry)
        await tx.appendAudit({ ...entry, hash })
      }
      return value
    })
}
