/** Writes changes and their chained audit record in one transaction. Source: docs/decisions/audit.md. @module */
import { createHmac } from 'node:crypto'
import type { Store, StoreTransaction } from '../ports/store.js'
import type { Clock } from '../ports/world.js'
import type { KeyVersion, MasterKey } from '../secrets/keys.js'
import type { AuditEntry, AuditRecord } from './audit-store.js'

/** Hex digits of a fingerprint: enough to distinguish the URLs of one integration. */
const fingerprintLength = 12

/**
 * The origin of a URL. If more follows, a keyed fingerprint of the whole URL is added in brackets: path, query and
 * credentials may contain a secret, but a change of them must be visible. Null stays null.
 */
export function shownUrl(key: KeyVersion, url: string | null): string | null {
  if (url === null) return null
  const origin = originOf(url)
  if (url === origin || url === `${origin}/`) return url
  const digest = createHmac('sha256', key.derive('audit-url')).update(url, 'utf8').digest('hex')
  return `${origin}/[${digest.slice(0, fingerprintLength)}]`
}

function originOf(url: string): string {
  try {
    return new URL(url).origin
  } catch {
    return 'unreadable'
  }
}

/** The hash before the first record. */
export const beforeFirst = ''

/**
 * The hash of a record: HMAC-SHA256 over the previous hash and all fields, with a key derived from the master key.
 * Write access to the database alone does not allow to forge a record.
 *
 * @param previous - The hash of the record before, or {@link beforeFirst}.
 *
 * @returns 64 lowercase hex digits.
 */
export function hashRecord(key: KeyVersion, previous: string, record: Omit<AuditRecord, 'hash'>): string {
  const { seq, at, actor, action, subject, details, keyVersion } = record
  const sorted = Object.entries(details).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // An array has one order, so equal records have equal text.
  const text = JSON.stringify([seq, at, actor, action, subject, sorted, keyVersion])
  return createHmac('sha256', key.derive('audit')).update(`${previous}\n${text}`, 'utf8').digest('hex')
}

/** The audit record of a change. */
type AuditNote = Pick<AuditEntry, 'action' | 'subject'> & Partial<Pick<AuditEntry, 'details'>>

/**
 * Runs `work` in a transaction and adds its notes to the audit log. The log is locked first, so that changes happen one
 * after the other. `work` may run again, and must only touch `tx`.
 */
export type Audited = <T>(work: (tx: StoreTransaction, note: (note: AuditNote) => void) => Promise<T>) => Promise<T>

/** The dependencies of audited changes. */
interface AuditedDeps {
  readonly transaction: Store['transaction']
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  /** The person or program that acts. */
  readonly actor: string
}

/** The longest name of an actor, in characters. */
const actorLength = 200

/**
 * Creates the transactions that record their changes in the name of one actor.
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
