import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { mountSmallDisk } from '../../test/support/small-disk.js'
import { createSqliteStore } from './create-sqlite-store.js'

const { hash, indexed, numbered, shop } = fixtures

test('without space a write is full, and every earlier one stays', async (context) => {
  const disk = mountSmallDisk('2m')
  if (disk === null) {
    context.skip('this user may not mount a file system')
    return
  }
  try {
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
  } finally {
    disk.remove()
  }
})
