import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../test/postgres.js'
import { createPostgresStore } from '../exports/postgres.js'

const { decided, hash, indexed, indexPayments, integration, primary } = fixtures

describe.skipIf(postgresMissing)('the newest rows of a PostgreSQL store', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database?.remove())

  it('have a lower id behind a higher one once its transaction commits', async () => {
    const { connectionString } = database
    const [store, slow] = [createPostgresStore({ connectionString }), createPostgresStore({ connectionString })]
    await store.migrate()
    await store.integrations.insert(integration())
    let commit = (): void => undefined
    let written = (): void => undefined
    const [mayCommit, hasWritten] = [
      new Promise<void>((resolve) => {
        commit = resolve
      }),
      new Promise<void>((resolve) => {
        written = resolve
      }),
    ]
    const done = slow.transaction(async (tx) => {
      await indexPayments(tx, [primary({ txHash: hash(1) })])
      const [payment] = await tx.paymentsForChange({ chainId: 1, txHash: hash(1) })
      if (payment === undefined) throw new Error('The payment is not stored.')
      await tx.insertUpdates([decided(payment)])
      written()
      await mayCommit
    })
    await Promise.race([hasWritten, done])
    const second = await indexed(store, { txHash: hash(2) })
    const before = await store.console.newest(10)
    expect([before.payments, before.updates]).toEqual([[second.id], []])
    commit()
    await done
    const { payments, deliveries, updates } = await store.console.newest(10)
    const first = String(Number(second.id) - 1)
    expect(payments).toEqual([second.id, first])
    expect(deliveries.map(({ paymentId }) => paymentId)).toEqual([second.id, first])
    expect(updates.map(({ paymentId }) => paymentId)).toEqual([first])
    await Promise.all([store.close(), slow.close()])
  })
})
