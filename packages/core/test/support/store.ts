/** Stores for tests: empty SQLite databases, with faults on demand and their committed rows. @module */
import { onTestFinished } from 'vitest'
import { createStore } from '../../../store-sql/src/create-store.js'
import { toAuditRecord } from '../../../store-sql/src/history/audit.js'
import { toEvent } from '../../../store-sql/src/identity/accounts.js'
import { type StoredRedemption, toRedemption, toShare, toVerdict } from '../../../store-sql/src/identity/redemptions.js'
import { type StoredSubject, toSubject } from '../../../store-sql/src/identity/subjects.js'
import { toHex, toNullableHex, unpack } from '../../../store-sql/src/internal/values.js'
import { type StoredRow, toStoredPayment } from '../../../store-sql/src/payments/payment-row.js'
import { unpackBody } from '../../../store-sql/src/payments/snapshots.js'
import type { Tables } from '../../../store-sql/src/schema/tables.js'
import { type TestSqlite, takeSqlite } from '../../../store-sql/test/support/sqlite-database.js'
import type { Checkpoint } from '../../src/indexer/chain-store.js'
import type { Store } from '../../src/ports/store.js'
import { settling } from './manual-clock.js'

/** A store on a database of its own, which is emptied after the test. */
export interface TestStore extends Store {
  /** Errors of the next transactions, after the work and before the commit; each is thrown once. */
  readonly failures: Error[]
  /** Runs before every transaction, outside of it. */
  beforeTransaction: (() => void) | null
  /** Committed rows, read at once when they are asked for. */
  readonly committed: ReturnType<typeof committedRows>
  /** All committed rows as stored, to compare with a later time. */
  dump(): unknown
  /** Runs a statement as no operation of the store does, while no transaction is open. */
  readonly sql: TestSqlite['sql']
}

const tables = [
  ...['payments', 'statuses', 'unsettled', 'page_epochs', 'payment_repositions', 'snapshots', 'outbox', 'attempts'],
  ...['updates', 'integrations', 'accounts', 'account_addresses', 'legacy_keys', 'checkpoints', 'proofs', 'coverage'],
  ...['deposits', 'endpoints', 'segments', 'audit', 'identity_subjects', 'identity_redemptions', 'identity_shares'],
  ...['identity_verdicts', 'identity_accounts', 'provider_events', 'email_codes', 'account_events', 'data_keys'],
  ...['operators', 'operator_sessions', 'integration_sessions'],
] as const satisfies readonly (keyof Tables)[]

const opening = new Set<Promise<void>>()

// No time passes on a manual clock while a store opens.
settling.push(async () => {
  while (opening.size > 0) await Promise.all(opening)
})

/**
 * Opens an empty store.
 * @param options.clock - In unix milliseconds. @default one that stands at 0
 */
export function openStore({ clock = { now: () => 0 } }: { readonly clock?: { now(): number } } = {}): TestStore {
  const database = takeSqlite(clock)
  const opened = database.opened.finally(() => opening.delete(opened))
  opening.add(opened)
  let isOpen = true
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    // Calls that nobody waits for come to their end.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    database.release()
  }
  try {
    onTestFinished(close)
  } catch {
    // It was opened outside of a test, which closes it.
  }
  const { sql } = database
  const store = createStore(database.engine)
  const tested: TestStore = {
    ...store,
    failures: [],
    beforeTransaction: null,
    transaction(work, options) {
      tested.beforeTransaction?.()
      return store.transaction(async (tx) => {
        const value = await work(tx)
        const failure = tested.failures.shift()
        if (failure) throw failure
        return value
      }, options)
    },
    committed: committedRows(sql, clock),
    dump: () => tables.map((table) => [table, sql(`select * from ${table} order by 1, 2`)]),
    sql,
    close,
  }
  return tested
}

/** Committed rows, oldest first. */
function committedRows(sql: TestSqlite['sql'], clock: { now(): number }) {
  return {
    get payments() {
      return sql<StoredRow>(
        `select payments.*, version, state, recipient, invoice from payments
          left join statuses on payment_id = payments.id order by payments.id`,
      ).map(toStoredPayment)
    },
    get snapshots() {
      return sql<
        Record<'payment_id' | 'version' | 'chain_id', number> &
          Record<'body' | 'tx_hash', Uint8Array> & { integration: Uint8Array | null }
      >(
        `select payment_id, snapshots.version, body, chain_id, tx_hash, payments.integration from snapshots
          join payments on payment_id = payments.id order by snapshots.id`,
      ).map(({ payment_id, version, body, chain_id, tx_hash, integration }) => {
        const integrationAddress = toNullableHex(integration)
        const subject = { integrationAddress, chainId: chain_id, txHash: toHex(tx_hash), version }
        return { ...subject, paymentId: String(payment_id), body: unpackBody(body, subject) }
      })
    },
    /** The kept heights of every chain; the highest of a chain is its checkpoint. */
    get heights() {
      return sql<Checkpoint & { chainId: number }>(
        `select chain_id as "chainId", block_number as "blockNumber", block_hash as "blockHash" from checkpoints
          order by chain_id, block_number`,
      )
    },
    get audit() {
      return sql<Parameters<typeof toAuditRecord>[0]>('select * from audit order by seq').map(toAuditRecord)
    },
    get subjects() {
      return sql<StoredSubject>('select * from identity_subjects order by seq').map(toSubject)
    },
    get redemptions() {
      return sql<StoredRedemption & { leased_until: number }>(
        'select *, leased_until > ? as is_leased from identity_redemptions order by seq',
        clock.now(),
      ).map((row) => ({ ...toRedemption(row), leasedUntil: row.leased_until }))
    },
    get shares() {
      return sql<Parameters<typeof toShare>[0]>('select * from identity_shares order by id').map(toShare)
    },
    get verdicts() {
      return sql<Parameters<typeof toVerdict>[0]>('select * from identity_verdicts order by id').map(toVerdict)
    },
    get accounts() {
      return sql<{ account_id: string; email_key: string | null; email_verified: number }>(
        'select account_id, email_key, email_verified from identity_accounts order by id',
      ).map((row) => ({
        ...{ accountId: unpack<string>(row.account_id), emailKey: row.email_key },
        verified: row.email_verified === 1,
      }))
    },
    get accountEvents() {
      return sql<Parameters<typeof toEvent>[0]>('select * from account_events order by id').map(toEvent)
    },
  }
}
