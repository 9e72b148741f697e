/** Stores operators and sessions, whose secrets arrive hashed. Source: docs/decisions/operators.md. @module */
import type {
  OperatorRecord,
  OperatorRole,
  OperatorStore,
  OperatorTransaction,
  SessionRecord,
  SessionTransaction,
} from '@payment-integration/core/internal'
import type { Connection, Engine } from '../engine.js'
import { prepare, type ValueOf } from '../internal/statements.js'
import { checkInteger, toNumber } from '../internal/values.js'
import type { Tables } from '../schema/tables.js'

const linkColumns = ['link_hash', 'link_expires_at'] as const
const columns = ['name', 'role', 'enabled', 'passphrase', ...linkColumns, 'operators.created_at'] as const

export function createOperatorStore(engine: Engine): OperatorStore {
  const { read } = engine
  const findSession = prepare(engine, (value: ValueOf<{ hash: string }>) => sessionQuery(read, value('hash')))
  return {
    ...createOperatorReads(read),
    async findSession(hash) {
      const [row] = await findSession({ hash })
      if (row === undefined) return null
      const operator = toOperatorRecord(row)
      const session = {
        hash: row.hash,
        operator: operator.name,
        createdAt: toNumber(row.session_created_at),
        expiresAt: toNumber(row.expires_at),
      }
      return { session, operator }
    },
  }
}

export function bindOperators(db: Connection): OperatorTransaction {
  return {
    ...createOperatorReads(db),
    async insert({ name, role, enabled, passphrase, link, createdAt }) {
      const inserted = await db
        .insertInto('operators')
        .values({ name, role, enabled: Number(enabled), passphrase, ...toLinkColumns(link), created_at: createdAt })
        .onConflict((conflict) => conflict.doNothing())
        .returning('name')
        .executeTakeFirst()
      return inserted !== undefined
    },
    async update(name, { role, enabled, passphrase, link }) {
      const row = await db
        .updateTable('operators')
        .set({
          // Sets the name too, so that the statement returns the row even without other changes.
          name,
          ...(role === undefined ? {} : { role }),
          ...(enabled === undefined ? {} : { enabled: Number(enabled) }),
          ...(passphrase === undefined ? {} : { passphrase }),
          ...(link === undefined ? {} : toLinkColumns(link)),
        })
        .where('name', '=', name)
        .returning(columns)
        .executeTakeFirst()
      return row === undefined ? null : toOperatorRecord(row)
    },
  }
}

export function bindOperatorSessions(db: Connection): SessionTransaction<SessionRecord> {
  return {
    async insert({ hash, operator, createdAt, expiresAt }) {
      const values = { hash, operator, created_at: createdAt, expires_at: expiresAt }
      await db.insertInto('operator_sessions').values(values).execute()
    },
    async delete(hash) {
      const row = await db.deleteFrom('operator_sessions').where('hash', '=', hash).returningAll().executeTakeFirst()
      if (row === undefined) return null
      const { operator, created_at, expires_at } = row
      return { hash, operator, createdAt: toNumber(created_at), expiresAt: toNumber(expires_at) }
    },
    async deleteByOwner(operator) {
      return (await deleteOperatorSessionsQuery(db, operator).execute()).length
    },
    async keepNewest(operator, count) {
      const newest = db.selectFrom('operator_sessions').select('hash').where('operator', '=', operator)
      await db
        .deleteFrom('operator_sessions')
        .where('operator', '=', operator)
        .where('hash', 'not in', newest.orderBy('created_at', 'desc').limit(count))
        .execute()
    },
    async deleteExpired(now) {
      await deleteExpiredOperatorSessionsQuery(db, checkInteger(now, 'now')).execute()
    },
  }
}

function createOperatorReads(db: Connection): Pick<OperatorStore, 'find' | 'findByLink' | 'list'> {
  return {
    async list() {
      const records = (await db.selectFrom('operators').select(columns).execute()).map(toOperatorRecord)
      return records.sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    async find(name) {
      const row = await nameQuery(db, name).executeTakeFirst()
      return row === undefined ? null : toOperatorRecord(row)
    },
    async findByLink(hash) {
      const row = await linkQuery(db, hash).executeTakeFirst()
      return row === undefined ? null : toOperatorRecord(row)
    },
  }
}

export function nameQuery(db: Connection, name: string) {
  return db.selectFrom('operators').select(columns).where('name', '=', name)
}

export function linkQuery(db: Connection, hash: string) {
  return db.selectFrom('operators').select(columns).where('link_hash', '=', hash)
}

export function sessionQuery(db: Connection, hash: string) {
  return db
    .selectFrom('operator_sessions')
    .innerJoin('operators', 'operators.name', 'operator_sessions.operator')
    .select([...columns, 'hash', 'operator_sessions.created_at as session_created_at', 'expires_at'])
    .where('hash', '=', hash)
}

export function deleteOperatorSessionsQuery(db: Connection, operator: string) {
  return db.deleteFrom('operator_sessions').where('operator', '=', operator).returning('hash')
}

export function deleteExpiredOperatorSessionsQuery(db: Connection, now: number) {
  return db.deleteFrom('operator_sessions').where('expires_at', '<=', now)
}

function toLinkColumns(link: OperatorRecord['link']) {
  return { link_hash: link?.hash ?? null, link_expires_at: link?.expiresAt ?? null }
}

function toOperatorRecord(row: Tables['operators']): OperatorRecord {
  const { link_hash: hash, link_expires_at: expiresAt } = row
  return {
    name: row.name,
    role: row.role as OperatorRole,
    enabled: toNumber(row.enabled) === 1,
    passphrase: row.passphrase,
    link: hash === null || expiresAt === null ? null : { hash, expiresAt: toNumber(expiresAt) },
    createdAt: toNumber(row.created_at),
  }
}
