import { checkMasterKey, createService, parseMasterKey } from '@payment-integration/core'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type OpenEngine, openSqlite } from '../../test/support/engines.js'
import { createStore } from '../create-store.js'
import type { Tables } from '../schema/tables.js'
import { sealedColumns } from './data-keys.js'

const oldKey = parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90')
const newKey = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')
const places = Object.entries(sealedColumns).flatMap(([column, place]) =>
  place ? [{ column, place: place.secretName }] : [],
)

let opened: OpenEngine
beforeEach(async () => {
  opened = await openSqlite()
})
afterEach(() => opened.close())

/** `table.column` of everything in the database. */
async function getColumns(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select t.name || '.' || c.name as name
    from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table'`.execute(db)
  return rows.map(({ name }) => name)
}

/** A database in which the old key sealed or hashed something in every place. */
async function sealedEverywhere() {
  const { engine } = opened
  const store = createStore(engine)
  await store.migrate()
  const reject = () => Promise.reject(new Error('nothing is sent'))
  const service = createService({
    store,
    sender: { post: reject },
    masterKey: oldKey,
    identity: { provider: { redeem: reject, find: reject, review: reject } },
  })
  const { integration } = await service.integrations.create({ address: `0x${'a1'.repeat(20)}` })
  await service.integrations.rotateApiSecret(integration.address, { graceMs: 3_600_000 })
  await service.integrations.prepareSigningSecret(integration.address)
  await service.integrations.activateSigningSecret(integration.address, { graceMs: 3_600_000 })
  await service.integrations.prepareSigningSecret(integration.address)
  await service.legacyKeys.create({ name: 'till' })
  await service.identity?.emailKey('somebody@example.com')
  return store
}

test('every column with a key version is a counted place, or is marked as not needed at the start', async () => {
  await createStore(opened.engine).migrate()
  const columns = await getColumns(opened.engine.read)
  const named = columns.filter((name) => /[._]key_version$/.test(name))
  expect(named.sort()).toEqual(Object.keys(sealedColumns).sort())
  const sealed = columns.filter((name) => name.endsWith('sealed'))
  expect(sealed).not.toEqual([])
  expect(columns).toEqual(expect.arrayContaining(sealed.map((name) => name.replace(/sealed$/, 'key_version'))))
})

test('a row in any place rejects a start without its key; the message names place and key', async () => {
  const store = await sealedEverywhere()
  expect((await store.sealingKeys(Date.now())).map(({ place }) => place)).toEqual(places.map(({ place }) => place))
  await checkMasterKey(store, oldKey)
  const setKey = (name: string, version: number) => {
    const [table = '', column = ''] = name.split('.')
    return opened.engine.transaction((db) =>
      sql`update ${sql.table(table)} set ${sql.ref(column)} = ${version}`.execute(db),
    )
  }
  for (const { column } of places) await setKey(column, newKey.current.version)
  await checkMasterKey(store, newKey)
  for (const { column, place } of places) {
    await setKey(column, oldKey.current.version)
    await expect(checkMasterKey(store, newKey), place).rejects.toMatchObject({
      code: 'ERR_MASTER_KEY_MISSING',
      missing: [{ place, keyVersion: oldKey.current.version, rows: 1 }],
    })
    await setKey(column, newKey.current.version)
  }
})
