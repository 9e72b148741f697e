import { createHash } from 'node:crypto'
import { fixtures } from '@payment-integration/core/conformance'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { fillSchema, makeSchema } from '../../test/support/old-schema.js'
import { createStore } from '../create-store.js'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration6 } from './migration-6.js'

test('the text of migration 6 is what it was', () => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration6(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(
    '3469dd986c350fb8fee8360bd55e7532667fd3890637ed546f9efe0d4ffa0c18',
  )
})

onBothDatabases((empty) => {
  test('a database of migration 5 keeps what it holds, and verifications begin', async () => {
    const engine = await empty()
    await makeSchema(engine, 5)
    await fillSchema(engine, 5, fixtures.facts())
    const store = createStore(engine)
    await Promise.all([1, 2, 3, 4].map(() => store.migrate()))
    expect(await store.integrations.list()).toEqual([fixtures.integration()])
    expect(await store.deliveries.find('1')).toMatchObject({ txHash: fixtures.facts().txHash, status: 'pending' })
    expect(await store.verifications.list({ limit: 1 })).toEqual([])
    const { attempts, claim } = await store.transaction((tx) => tx.verifications.lock('account'))
    expect({ attempts, claim }).toEqual({ attempts: 0, claim: null })
  })
})
