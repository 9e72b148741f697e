import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../test/postgres.js'
import { createPostgresStore } from '../exports/postgres.js'

const { hash, indexed, indexPayments, integration, primary, shop } = fixtures

describe.skipIf(postgresMissing)('the stream of a PostgreSQL store', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database?.remove())

  it('does not pass a lower id that commits later, and does not wait for newer writers', async () => {
    const { connectionString } = database
    const [store, slow] = [createPostgresStore({ connectionString }), createPostgresStore({ connectionString })]
    await store.migrate()
    await store.integrations.insert(integration())
    await indexed(store, { txHash: hash(1) })
    const before = await store.deliveries.completeUpTo()

    const writer = openWriter(slow, hash(2))
    await writer.hasWritten
    await indexed(store, { txHash: hash(3) })
    const newest = await store.deliveries.newestId({})
    expect(Number(newest)).toBe(Number(before) + 2)
    for (let n = 0; n < 3; n += 1) expect(await store.deliveries.completeUpTo()).toBe(before)

    // It began later, so the ids up to `newest` are complete without it.
    const later = openWriter(slow, hash(4))
    await later.hasWritten
    await writer.commit()
    expect(await store.deliveries.completeUpTo()).toBe(newest)
    const query = { integrationAddress: shop, afterId: before ?? '', upToId: newest ?? '', limit: 10 }
    expect((await store.deliveries.stream(query)).map(({ txHash }) => txHash)).toEqual([hash(2), hash(3)])
    await later.commit()
    expect(await store.deliveries.completeUpTo()).toBe(await store.deliveries.newestId({}))
    await Promise.all([store.close(), slow.close()])
  })

  it('is unknown at first while a writer is in flight, and known after it', async () => {
    const { connectionString } = database
    const [store, slow] = [createPostgresStore({ connectionString }), createPostgresStore({ connectionString })]
    const writer = openWriter(slow, hash(7))
    await writer.hasWritten
    expect(await store.deliveries.completeUpTo()).toBeNull()
    await writer.commit()
    expect(await store.deliveries.completeUpTo()).toBe(await store.deliveries.newestId({}))
    await Promise.all([store.close(), slow.close()])
  })

  /** A transaction that has stored a delivery and commits on demand. */
  function openWriter(store: ReturnType<typeof createPostgresStore>, txHash: string) {
    let commit = () => {}
    const mayCommit = new Promise<void>((resolve) => {
      commit = resolve
    })
    let done: Promise<void> = Promise.resolve()
    const hasWritten = new Promise<void>((resolve, reject) => {
      done = store.transaction(async (tx) => {
        await indexPayments(tx, [primary({ txHash })])
        resolve()
        await mayCommit
      })
      done.catch(reject)
    })
    return {
      hasWritten,
      async commit() {
        commit()
        await done
      },
    }
  }
})
