import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSqliteFixture, versionStoreConformance } from '../src/exports/conformance.js'
import { createSqliteVersionStore, type SqliteDatabase } from '../src/exports/sqlite.js'
import { drivers, getNotes, openReceiverDatabase } from './drivers.js'
import { busy, collect, nothing, payment } from './payment.js'

/** A connection that answers nothing. */
const mute = { exec: nothing, prepare: () => ({ get: nothing, run: nothing, all: () => [] }) }

for (const { name, open } of drivers) {
  versionStoreConformance(
    name,
    (faults) => {
      const folder = mkdtempSync(join(tmpdir(), 'version-store-'))
      const database = open(join(folder, 'receiver.db'))
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      return createSqliteFixture(database, faults, () => rmSync(folder, { recursive: true }))
    },
    { test },
  )

  describe(`${name} adapter`, () => {
    /** A database file that ends with its test, and further connections to it. */
    function file() {
      const folder = mkdtempSync(join(tmpdir(), 'version-store-'))
      const opened: { close(): void }[] = []
      onTestFinished(() => {
        for (const database of opened) database.close()
        rmSync(folder, { recursive: true })
      })
      return () => {
        const database = openReceiverDatabase(open, join(folder, 'receiver.db'))
        opened.push(database)
        return database
      }
    }
    const addNote = (tx: SqliteDatabase, note: string) =>
      void tx.prepare('INSERT INTO notes (note) VALUES (?)').run(note)

    test('a lock that is not released in time is ERR_VERSION_STORE_BUSY, and nothing is kept', async () => {
      const connect = file()
      const holder = connect()
      const database = connect()
      let time = 0
      const waits: number[] = []
      const store = createSqliteVersionStore({
        database,
        busyTimeoutMs: 100,
        clock: {
          now: () => time,
          sleep: async (ms) => {
            waits.push(ms)
            time += ms
          },
        },
      })
      expect(await store.current(payment)).toBeUndefined()
      holder.exec('BEGIN IMMEDIATE')
      const call = store.advance(payment, () => addNote(database, 'never'))
      await expect(call).rejects.toMatchObject({ ...busy, cause: expect.any(Error) })
      expect(waits).toEqual(Array(10).fill(10))
      holder.exec('COMMIT')
      expect(getNotes(database)).toEqual([])
      expect(await store.advance(payment, nothing)).toBe('apply')
    })

    test('a lock that is released in time is waited for, the creation of the table included', async () => {
      const connect = file()
      const holder = connect()
      const database = connect()
      holder.exec('BEGIN IMMEDIATE')
      let waits = 0
      const store = createSqliteVersionStore({
        database,
        clock: {
          now: () => performance.now(),
          sleep: async () => {
            if (++waits === 3) holder.exec('COMMIT')
          },
        },
      })
      expect(await store.advance(payment, nothing)).toBe('apply')
      expect(waits).toBe(3)
    })

    test('an error of the effect is not mistaken for a lock, whatever it says', async () => {
      let runs = 0
      const store = createSqliteVersionStore({ database: file()() })
      const failure = new Error('database is locked')
      const call = store.advance(payment, () => {
        runs++
        throw failure
      })
      await expect(call).rejects.toBe(failure)
      expect(runs).toBe(1)
    })

    test('nothing slips into the transaction of a synchronous effect', async () => {
      const database = file()()
      const store = createSqliteVersionStore({ database })
      await store.current(payment)
      let over = false
      const seenOpen: boolean[] = []
      const meddler = (async () => {
        while (!over) {
          seenOpen.push((database.isTransaction ?? database.inTransaction) === true)
          await Promise.resolve()
        }
      })()
      for (let version = 1; version <= 5; version++)
        await store.advance({ ...payment, version }, () => addNote(database, 'x'))
      over = true
      await meddler
      expect(seenOpen.length).toBeGreaterThan(10)
      expect(seenOpen).not.toContain(true)
    })

    test('stores on one connection take turns, over two tables', async () => {
      const database = file()()
      const stores = [undefined, 'other_versions'].map((table) => createSqliteVersionStore({ database, table }))
      const effect = async (tx: SqliteDatabase) => {
        addNote(tx, 'begin')
        await new Promise((resolve) => setTimeout(resolve, 5))
        addNote(tx, 'end')
      }
      expect(await Promise.all(stores.map((store) => store.advance(payment, effect)))).toEqual(['apply', 'apply'])
      expect(getNotes(database)).toEqual(['begin', 'end', 'begin', 'end'])
    })

    /** The connection as drivers show it that say nothing about transactions: `node:sqlite` before 22.16. */
    const silent = (database: SqliteDatabase): SqliteDatabase => ({
      exec: (sql) => database.exec(sql),
      prepare: (sql) => database.prepare(sql),
    })
    const plain = (database: SqliteDatabase) => database
    const views = Object.entries({ '': plain, ' on a driver that does not tell': silent })

    test.each(views)('an open transaction of yours is rejected and left alone, at first use too%s', async (_, view) => {
      const database = file()()
      const store = createSqliteVersionStore({ database: view(database) })
      for (let round = 0; round < 2; round++) {
        database.exec('BEGIN')
        addNote(database, 'yours')
        expect(await store.current(payment)).toBeUndefined()
        await expect(store.advance(payment, nothing)).rejects.toMatchObject({ code: 'ERR_TRANSACTION_OPEN' })
        expect(getNotes(database)).toEqual(['yours'])
        database.exec('ROLLBACK')
        expect(await store.current(payment)).toBeUndefined()
      }
      expect(await store.advance(payment, (tx) => addNote(tx, 'kept'))).toBe('apply')
      expect(await store.advance(payment, nothing)).toBe('duplicate')
      expect(getNotes(database)).toEqual(['kept'])
    })

    const endings = ['COMMIT', 'ROLLBACK', 'COMMIT; BEGIN', 'ROLLBACK; BEGIN']
    test.each(views.flatMap(([where, view]) => endings.map((ending) => [ending, where, view] as const)))(
      'an effect that runs %s%s is rejected, and the version is not taken',
      async (ending, _, view) => {
        const database = file()()
        const store = createSqliteVersionStore({ database: view(database) })
        const returning = store.advance(payment, (tx) => void tx.exec(ending))
        await expect(returning).rejects.toMatchObject({ code: 'ERR_TRANSACTION_ENDED' })

        const cause = new Error('the warehouse is closed')
        const throwing = store.advance(payment, (tx) => {
          addNote(tx, 'before')
          tx.exec(ending)
          throw cause
        })
        await expect(throwing).rejects.toMatchObject({ code: 'ERR_TRANSACTION_ENDED', cause })
        expect(getNotes(database)).toEqual(ending.startsWith('COMMIT') ? ['before'] : [])
        expect(await store.current(payment)).toBeUndefined()
        expect(await store.advance(payment, (tx) => addNote(tx, 'after'))).toBe('apply')
      },
    )

    test.each(['COMMIT', 'COMMIT; BEGIN'])(
      'an error of SQLite does not hide that the effect ran %s',
      async (ending) => {
        const database = file()()
        const store = createSqliteVersionStore({ database })
        const call = store.advance(payment, (tx) => {
          addNote(tx, 'kept')
          tx.exec(ending)
          tx.exec("INSERT INTO notes (id, note) VALUES (1, 'twice')")
        })
        const cause = { message: expect.stringMatching(/UNIQUE/) }
        await expect(call).rejects.toMatchObject({ code: 'ERR_TRANSACTION_ENDED', cause })
        expect(await store.current(payment)).toBeUndefined()
      },
    )

    test('an effect may use savepoints of its own', async () => {
      const database = file()()
      const store = createSqliteVersionStore({ database })
      const effect = (tx: SqliteDatabase) => {
        tx.exec('SAVEPOINT mine')
        addNote(tx, 'undone')
        tx.exec('ROLLBACK TO mine')
        addNote(tx, 'kept')
      }
      expect(await store.advance(payment, effect)).toBe('apply')
      expect(getNotes(database)).toEqual(['kept'])
    })

    test('an effect that writes with OR ROLLBACK ended the transaction', async () => {
      const database = file()()
      const store = createSqliteVersionStore({ database })
      const call = store.advance(payment, (tx) => {
        addNote(tx, 'undone')
        tx.exec("INSERT OR ROLLBACK INTO notes (id, note) VALUES (1, 'twice')")
      })
      await expect(call).rejects.toMatchObject({ code: 'ERR_TRANSACTION_ENDED' })
      expect(getNotes(database)).toEqual([])
      expect(await store.current(payment)).toBeUndefined()
    })

    test('a full disk, after which SQLite rolls back, is the cause of the error', async () => {
      const database = file()()
      const store = createSqliteVersionStore({ database })
      await store.advance({ ...payment, version: 1 }, nothing)
      database.exec('PRAGMA max_page_count = 10')
      const call = store.advance({ ...payment, version: 2 }, (tx) => {
        for (let n = 0; n < 100; n += 1) addNote(tx, 'x'.repeat(4_096))
      })
      const cause = { message: expect.stringMatching(/full/) }
      await expect(call).rejects.toMatchObject({ code: 'ERR_TRANSACTION_ENDED', cause })
      expect(getNotes(database)).toEqual([])
      expect(await store.current(payment)).toBe(1)
    })
  })
}

test.each([
  ['node:sqlite', Object.assign(new Error('locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 })],
  ['node:sqlite, an extended code', Object.assign(new Error('locked'), { code: 'ERR_SQLITE_ERROR', errcode: 517 })],
  ['better-sqlite3', Object.assign(new Error('locked'), { code: 'SQLITE_BUSY_SNAPSHOT' })],
  ['a driver that only says it', new Error('database is locked')],
  ['a driver of another realm', runInNewContext("new Error('database is locked')")],
])('a lock is known as %s reports it', async (_, error) => {
  let tries = 0
  const exec = (sql: string) => {
    if (sql === 'BEGIN IMMEDIATE' && ++tries < 3) throw error
  }
  const clock = { now: () => performance.now(), sleep: async () => undefined }
  const store = createSqliteVersionStore({ database: { ...mute, exec }, clock })
  expect(await store.advance(payment, nothing)).toBe('apply')
  expect(tries).toBe(3)
})

test('a table that is not there yet is known by an error of another realm', async () => {
  const prepare = () => {
    throw runInNewContext("new Error('no such table: receiver_versions')")
  }
  const store = createSqliteVersionStore({ database: { ...mute, prepare } })
  expect(await store.current(payment)).toBeUndefined()
})

test('a connection that gives rows as arrays, and numbers as bigints, keeps versions as any other', async () => {
  const database = new DatabaseSync(':memory:', { returnArrays: true, readBigInts: true })
  onTestFinished(() => database.close())
  const store = createSqliteVersionStore({ database: database as unknown as SqliteDatabase })
  expect(await store.advance({ ...payment, version: 2 }, nothing)).toBe('apply')
  expect(await store.current(payment)).toBe(2)
  expect(await store.advance({ ...payment, version: 1 }, nothing)).toBe('stale')
  expect(await store.advance({ ...payment, version: 3 }, nothing)).toBe('apply')
  const other = createSqliteVersionStore({ database: database as unknown as SqliteDatabase })
  expect(await other.current(payment)).toBe(3)
  const { version, ...key } = payment
  expect(await collect(store.list(payment.integrationAddress))).toEqual([key])
})
