import { chmodSync, copyFileSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '@payment-integration/core/ports'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { temporaryFolder } from '../../test/support/engines.js'
import { createSqliteStore, type SqliteStoreOptions } from './create-sqlite-store.js'

const { integration, shop } = fixtures

let folder: ReturnType<typeof temporaryFolder>
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder.path, 'payments.db')
})
afterEach(() => folder.remove())

async function use(options: SqliteStoreOptions, work: (store: Store) => Promise<void>): Promise<void> {
  const store = createSqliteStore(options)
  try {
    await work(store)
  } finally {
    await store.close()
  }
}

describe('options', () => {
  for (const bad of ['', ' ', ':memory:', 'file:x.db?mode=memory', 'FILE:x.db', undefined, null, 7])
    test(`path ${JSON.stringify(bad)} is a TypeError`, () => {
      expect(() => createSqliteStore({ path: bad as string })).toThrow(TypeError)
    })

  for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '5' as never])
    test(`busyTimeoutMs ${bad} is a RangeError`, () => {
      expect(() => createSqliteStore({ path, busyTimeoutMs: bad })).toThrow(RangeError)
    })
})

describe('opening', () => {
  test('a missing folder is named in the error, and not made', async () => {
    const missing = join(folder.path, 'missing', 'payments.db')
    await use({ path: missing }, async (store) => {
      const error = { code: 'ERR_STORE_UNAVAILABLE', message: expect.stringContaining(missing) as string }
      await expect(store.migrate()).rejects.toMatchObject(error)
      await expect(store.ping()).rejects.toMatchObject(error)
    })
  })

  test('a store opens as soon as its folder is there', async () => {
    const late = join(folder.path, 'late')
    await use({ path: join(late, 'payments.db') }, async (store) => {
      await expect(store.migrate()).rejects.toMatchObject({ retryable: true })
      mkdirSync(late)
      await store.migrate()
      await store.ping()
    })
  })

  test('a folder, or a file that is no database, is rejected', async () => {
    await use({ path: folder.path }, async (store) => {
      await expect(store.migrate()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    })
    writeFileSync(path, 'this is a text file, and long enough to have a header '.repeat(40))
    await use({ path }, (store) => expect(store.migrate()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' }))
  })

  test('creating a store touches no file', async () => {
    createSqliteStore({ path: join(folder.path, 'missing', 'payments.db') })
    createSqliteStore({ path })
    expect(() => writeFileSync(path, '', { flag: 'wx' })).not.toThrow()
  })
})

// Windows has no such modes.
describe.skipIf(process.platform === 'win32')('the mode of the file', () => {
  const getMode = (name: string) => statSync(join(folder.path, name)).mode & 0o777

  /** Writes through a store and returns the modes of all files that are there meanwhile. */
  async function modesDuring(at: string): Promise<Record<string, number>> {
    const modes: [string, number][] = []
    await use({ path: at }, async (store) => {
      await store.migrate()
      for (const name of readdirSync(folder.path)) modes.push([name, getMode(name)])
    })
    return Object.fromEntries(modes)
  }

  const all = (mode: number) => ({ 'payments.db': mode, 'payments.db-wal': mode, 'payments.db-shm': mode })

  test('a new file, its log and its index are for their owner alone', async () => {
    expect(await modesDuring(path)).toEqual(all(0o600))
  })

  test('a new file behind a symbolic link, too', async () => {
    symlinkSync(path, join(folder.path, 'link.db'))
    expect(await modesDuring(join(folder.path, 'link.db'))).toMatchObject(all(0o600))
  })

  test.each([0o640, 0o666])(
    'an existing file keeps its mode (%i), and its log and index have the same',
    async (mode) => {
      writeFileSync(path, '')
      chmodSync(path, mode)
      expect(await modesDuring(path)).toEqual(all(mode))
    },
  )
})

describe('closing', () => {
  test('every call after close is rejected', async () => {
    const store = createSqliteStore({ path })
    await store.migrate()
    await store.close()
    const closed = { code: 'ERR_STORE_UNAVAILABLE', message: expect.stringContaining('closed') as string }
    await expect(store.ping()).rejects.toMatchObject(closed)
    await expect(fixtures.insertIntegration(store)).rejects.toMatchObject(closed)
    await expect(store.transaction(async () => undefined)).rejects.toMatchObject(closed)
  })

  test('everything is in the file itself after close: a copy of it alone is a whole database', async () => {
    const copy = join(folder.path, 'copy.db')
    await use({ path }, async (store) => {
      await store.migrate()
      await fixtures.insertIntegration(store)
      await store.integrations.find(shop)
    })
    copyFileSync(path, copy)
    await use({ path: copy }, async (store) => {
      expect(await store.integrations.find(shop)).toEqual(integration())
    })
  })

  test('close waits for the running transaction', async () => {
    const store = createSqliteStore({ path })
    await store.migrate()
    let closing: Promise<void> | undefined
    await store.transaction(async (tx) => {
      closing = store.close()
      await new Promise((resolve) => setImmediate(resolve))
      await tx.setCheckpoint(1, { blockNumber: 1, blockHash: '0x01' })
    })
    await closing
    await use({ path }, async (again) => {
      expect(await again.payments.checkpoint(1)).toEqual({ blockNumber: 1, blockHash: '0x01' })
    })
  })

  test('close may be called twice, and on a store that was never opened', async () => {
    const store = createSqliteStore({ path })
    await Promise.all([store.close(), store.close()])
    await store.close()
  })
})
