import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { nextLine, startChild } from '../../test/support/child.js'
import { temporaryFolder } from '../../test/support/engines.js'
import { createStore } from '../create-store.js'
import { createSqliteEngine, createSqliteStore } from './create-sqlite-store.js'
import { createFile, type SqliteFile } from './sqlite-file.js'

const { facts, hash, integration, primary } = fixtures

let folder: ReturnType<typeof temporaryFolder>
let file: SqliteFile
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder.path, 'payments.db')
  file = createFile(path, 200)
})
afterEach(async () => {
  await file.close()
  folder.remove()
})

describe('settings', () => {
  for (const [pragma, value] of [
    ['journal_mode', 'wal'],
    ['synchronous', 2],
    ['foreign_keys', 1],
    ['fullfsync', 1],
    ['trusted_schema', 0],
  ])
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
  test('writes wait without blocking this process, then are busy', async () => {
    const store = createSqliteStore({ path, busyTimeoutMs: 300 })
    await store.migrate()
    const holder = startChild('hold-lock', path)
    expect(await nextLine(holder)).toBe('held')
    let turns = 0
    const counting = setInterval(() => {
      turns += 1
    }, 5)
    const started = performance.now()
    await expect(store.integrations.insert(integration())).rejects.toMatchObject({
      name: 'StoreError',
      code: 'ERR_STORE_BUSY',
      retryable: true,
    })
    clearInterval(counting)
    expect(performance.now() - started).toBeGreaterThanOrEqual(300)
    expect(turns).toBeGreaterThan(2)
    expect(await store.integrations.list()).toEqual([])

    holder.process.stdin.end()
    await holder.ended
    expect(await store.integrations.insert(integration())).toBe(true)
    await store.close()
  })

  test('a waiting write commits when the lock is released', async () => {
    const store = createSqliteStore({ path, busyTimeoutMs: 60_000 })
    await store.migrate()
    const holder = startChild('hold-lock', path)
    await nextLine(holder)
    const inserting = store.integrations.insert(integration())
    expect(await store.integrations.list()).toEqual([])
    holder.process.stdin.end()
    expect(await inserting).toBe(true)
    await holder.ended
    await store.close()
  })
})

describe('a full disk', () => {
  test('is reported as full and rolls back; with space the write succeeds', async () => {
    const store = createStore(createSqliteEngine(file, Date.now))
    await store.migrate()
    const { writer } = await file.open()
    const [pages] = writer.all('pragma page_count') as { page_count: number }[]
    const most = (count: number) => writer.exec(`pragma max_page_count = ${count}`)
    most((pages?.page_count ?? 0) + 2)
    const given = Array.from({ length: 500 }, (_, n) => primary({ txHash: hash(n) }))
    const store500 = () =>
      store.transaction(async (tx) => {
        await tx.setCheckpoint(1, { blockNumber: 1, blockHash: hash(1) })
        return tx.upsertPayments(given)
      })
    await expect(store500()).rejects.toMatchObject({ code: 'ERR_STORE_FULL', retryable: false })
    expect(await store.payments.checkpoint(1)).toBeNull()
    expect(await store.payments.listUnsettled({ chainId: 1, limit: 10 })).toEqual([])
    most(1_000_000)
    expect((await store500()).inserted).toHaveLength(500)
  })

  test('work that continues after a full disk commits nothing', async () => {
    const store = createStore(createSqliteEngine(file, Date.now))
    await store.migrate()
    const { writer } = await file.open()
    const [pages] = writer.all('pragma page_count') as { page_count: number }[]
    writer.exec(`pragma max_page_count = ${(pages?.page_count ?? 0) + 2}`)
    const symbol = 'x'.repeat(100_000)
    const large = facts({ tokenIn: { ...facts().tokenIn, symbol } })
    const careless = store.transaction(async (tx) => {
      await tx.upsertPayments([{ facts: large, primary: true }]).catch(() => undefined)
      await tx.setCheckpoint(1, { blockNumber: 1, blockHash: hash(1) }).catch(() => undefined)
    })
    await expect(careless).rejects.toMatchObject({ code: 'ERR_STORE_FULL' })
    expect(await store.payments.checkpoint(1)).toBeNull()
  })
})

describe('a process that is killed', () => {
  test('loses no acknowledged write', async () => {
    for (const acknowledgements of [1, 40, 200]) {
      const killed = join(folder.path, `killed-${acknowledgements}.db`)
      const child = startChild('write-until-killed', killed)
      let acknowledged = 0
      await new Promise<void>((resolve) => {
        child.lines.on('line', (line) => {
          acknowledged = Number(line)
          if (acknowledged === acknowledgements) resolve()
        })
      })
      child.process.kill('SIGKILL')
      await child.ended
      const store = createSqliteStore({ path: killed })
      await store.migrate()
      const names = (await store.integrations.list()).map(({ name }) => Number(name))
      expect(names.length).toBeGreaterThanOrEqual(acknowledged)
      expect(names).toEqual(names.map((_, n) => n + 1))
      await store.close()
    }
  })
})
