import { once } from 'node:events'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '@payment-integration/core/ports'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { startLimitedChild } from '../../test/support/child.js'
import { temporaryFolder } from '../../test/support/engines.js'
import { readOnlyFile } from '../../test/support/read-only.js'
import { onSmallDisk } from '../../test/support/small-disk.js'
import { createSqliteStore } from './create-sqlite-store.js'
import { createSqliteFile } from './sqlite-file.js'

const { hash, indexed, integration, numbered, shop } = fixtures

const unavailable = { name: 'StoreError', code: 'ERR_STORE_UNAVAILABLE', retryable: true }
const write = (store: Store) => store.transaction((tx) => tx.setCheckpoint(1, { blockNumber: 1, blockHash: hash(1) }))

let folder: ReturnType<typeof temporaryFolder>
let path: string
beforeEach(async () => {
  folder = temporaryFolder()
  path = join(folder.path, 'payments.db')
  const store = createSqliteStore({ path })
  await store.migrate()
  await fixtures.insertIntegration(store)
  await write(store)
  await store.close()
})
afterEach(() => folder.remove())

test('a read-only file is unavailable to writes, and can be read', async (context) => {
  const owner = createSqliteStore({ path })
  const payment = await indexed(owner)
  const file = readOnlyFile(path)
  if (file === null) {
    context.skip('this user may write everything and mount nothing')
    return
  }
  const store = createSqliteStore({ path: file.path })
  try {
    await expect(write(store)).rejects.toMatchObject(unavailable)
    await expect(fixtures.insertIntegration(store)).rejects.toThrow(/may only be read/)
    expect((await store.payments.list({ integrationAddress: shop, limit: 10 })).payments).toEqual([payment])
  } finally {
    await store.close()
    file.remove()
    await owner.close()
  }
})

test('a file with a damaged page is unavailable to reads and writes of that page', async () => {
  const file = createSqliteFile(path, 0)
  const { reader } = await file.open()
  const [page] = reader.all(
    `select rootpage as number, page_size as size from sqlite_schema, pragma_page_size where name = 'checkpoints'`,
  ) as { number: number; size: number }[]
  await file.close()
  const { number = 0, size = 0 } = page ?? {}
  const descriptor = openSync(path, 'r+')
  writeSync(descriptor, 'x'.repeat(size), (number - 1) * size)
  closeSync(descriptor)
  const store = createSqliteStore({ path })
  await store.ping()
  await expect(store.payments.checkpoint(1)).rejects.toMatchObject(unavailable)
  await expect(store.payments.checkpoint(1)).rejects.toThrow(/damaged/)
  await expect(write(store)).rejects.toMatchObject(unavailable)
  await store.close()
})

test.skipIf(process.platform === 'win32')(
  'a disk that rejects a write is unavailable, and earlier writes are kept',
  async () => {
    const child = startLimitedChild(1_000, 'write-until-rejected', path)
    expect(await once(child.lines, 'line')).toEqual([expect.stringMatching(/^ERR_STORE_UNAVAILABLE: The disk failed/)])
    expect(await child.ended).toBe(0)
    const store = createSqliteStore({ path })
    expect(await store.payments.checkpoint(10)).toMatchObject({ blockNumber: 1 })
    expect(await store.integrations.find(shop)).toEqual(integration())
    await store.close()
  },
)

test('without space a write is full, and every earlier one stays', (context) =>
  onSmallDisk(context, '2m', async (disk) => {
    const store = createSqliteStore({ path: join(disk.path, 'payments.db') })
    await store.migrate()
    const kept = await indexed(store, { txHash: hash(1_000_000) })
    const fill = () => writeFileSync(join(disk.path, 'filler'), Buffer.alloc(4_096), { flag: 'a' })
    expect(() => {
      for (let blocks = 0; blocks < 512; blocks += 1) fill()
    }).toThrow(/ENOSPC/)
    const given = numbered(300)
    const attempt = store.transaction((tx) => tx.upsertPayments(given))
    await expect(attempt).rejects.toMatchObject({ code: 'ERR_STORE_FULL' })
    expect((await store.payments.list({ integrationAddress: shop, limit: 10 })).payments).toEqual([kept])
    disk.grow('32m')
    expect((await store.transaction((tx) => tx.upsertPayments(given))).inserted).toHaveLength(300)
    await store.close()
  }))
