import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { nextLine, startChild } from '../../test/support/child.js'
import { temporaryFolder } from '../../test/support/engines.js'
import { createStore } from '../create-store.js'
import { createSqliteEngine, createSqliteStore } from './create-sqlite-store.js'
import { createSqliteFile, type SqliteFile } from './sqlite-file.js'

const { facts, hash } = fixtures

let folder: ReturnType<typeof temporaryFolder>
let file: SqliteFile
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder.path, 'payments.db')
  file = createSqliteFile(path, 200)
})
afterEach(async () => {
  await file.close()
  folder.remove()
})

describe('settings', () => {
  const pragmas = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1, fullfsync: 1, trusted_schema: 0 }
  for (const [pragma, value] of Object.entries(pragmas))
    test(`the writer runs with ${pragma} ${value}`, async () => {
      const { writer } = await file.open()
      expect(Object.values(writer.all(`pragma ${pragma}`)[0] as object)).toEqual([value])
    })

  test('the reader cannot write', async () => {
    const { reader } = await file.open()
    expect(() => reader.exec('create table x (a)')).toThrow(/readonly/)
  })

  test('more statements than the cache has still work', async () => {
    const { reader } = await file.open()
    for (let round = 0; round < 2; round += 1)
      for (let n = 0; n < 300; n += 1) expect(reader.all(`select ${n} as n`)).toEqual([{ n }])
  })
})

describe('a file that another process has locked', () => {
  test('writes wait without blocking this process, then are busy; a longer wait ends with the lock', async () => {
    const store = createSqliteStore({ path, busyTimeoutMs: 300 })
    await store.migrate()
    const holder = startChild('hold-lock', path)
    expect(await nextLine(holder)).toBe('held')
    let turns = 0
    const counting = setInterval(() => {
      turns += 1
    }, 5)
    const started = performance.now()
    const busy = { name: 'StoreError', code: 'ERR_STORE_BUSY', retryable: true }
    await expect(fixtures.insertIntegration(store)).rejects.toMatchObject(busy)
    clearInterval(counting)
    expect(performance.now() - started).toBeGreaterThanOrEqual(300)
    expect(turns).toBeGreaterThan(2)
    expect(await store.integrations.list()).toEqual([])

    const patient = createSqliteStore({ path, busyTimeoutMs: 60_000 })
    const inserting = fixtures.insertIntegration(patient)
    expect(await patient.integrations.list()).toEqual([])
    holder.process.stdin.end()
    expect(await inserting).toBe(true)
    await holder.ended
    await Promise.all([store.close(), patient.close()])
  })
})

describe('a full disk', () => {
  test('work that continues after a full disk commits nothing; with space the next write succeeds', async () => {
    const store = createStore(createSqliteEngine(file, Date))
    await store.migrate()
    const { writer } = await file.open()
    const [pages] = writer.all('pragma page_count') as { page_count: number }[]
    const most = (count: number) => writer.exec(`pragma max_page_count = ${count}`)
    most((pages?.page_count ?? 0) + 2)
    const symbol = 'x'.repeat(100_000)
    const large = facts({ tokenIn: { ...facts().tokenIn, symbol } })
    const careless = store.transaction(async (tx) => {
      await tx.upsertPayments([{ facts: large, primary: true }]).catch(() => undefined)
      await tx.setCheckpoint(1, { blockNumber: 1, blockHash: hash(1) }).catch(() => undefined)
    })
    await expect(careless).rejects.toMatchObject({ code: 'ERR_STORE_FULL' })
    expect(await store.payments.checkpoint(1)).toBeNull()
    most(1_000_000)
    const { inserted } = await store.transaction((tx) => tx.upsertPayments([{ facts: large, primary: true }]))
    expect(inserted).toHaveLength(1)
  })
})
