/** Plans that the server keeps for `pg`, and sessions that lose them. */
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { createPostgresVersionStore } from '../src/exports/postgres.js'
import { nothing, other, payment } from './payment.js'
import { describePostgres } from './postgres-setup.js'

const at = (version: number) => ({ ...payment, version })
const storeOn = (database: pg.Pool | pg.Client) => createPostgresVersionStore({ database: database as pg.Pool })

/** As PgBouncer from 1.21 on: statements of the protocol get the pooler's names, and EXECUTE does not find them. */
function rename(client: pg.ClientBase) {
  const query = client.query.bind(client) as (...words: unknown[]) => unknown
  const renamed = (first: unknown, ...others: unknown[]) => {
    const given = first as { name?: string }
    return query(typeof given.name === 'string' ? { ...given, name: `pooler_${given.name}` } : first, ...others)
  }
  client.query = renamed as typeof client.query
}

describePostgres(({ pool, client }) => {
  const databases = Object.entries({ pool: async () => pool({ max: 1 }), client })

  test.each(databases)(
    '%s: behind a pooler that tracks protocol statements alone, each delivery is handled',
    async (_, open) => {
      const database = await open()
      if (database instanceof pg.Pool) database.on('connect', rename)
      else rename(database)
      const store = storeOn(database)
      const decisions = []
      for (const version of [1, 2, 3, 4, 4, 3]) decisions.push(await store.advance(at(version), nothing))
      expect(decisions).toEqual(['apply', 'apply', 'apply', 'apply', 'duplicate', 'stale'])
      expect(await store.current(payment)).toBe(4)
      await database.query('SELECT 1')
    },
  )

  describe.each(['DISCARD ALL', 'DEALLOCATE ALL'])('after %s', (forget) => {
    test.each(databases)('%s: each delivery and each read is handled, and each effect runs once', async (_, open) => {
      const database = await open()
      const store = storeOn(database)
      let effects = 0
      const count = () => void effects++
      for (let round = 1; round <= 4; round++) {
        expect(await store.advance(at(round), count)).toBe('apply')
        await database.query(forget)
        expect(await store.current(payment)).toBe(round)
        expect(await store.advance(at(round), count)).toBe('duplicate')
        await database.query(forget)
      }
      expect(effects).toBe(4)
    })

    test('a transaction of yours goes on, and keeps version and effect', async () => {
      const tx = (await client()) as unknown as pg.PoolClient
      const store = storeOn(pool({ max: 1 }))
      for (let round = 1; round <= 3; round++) {
        await tx.query('BEGIN')
        expect(await store.in(tx).advance(at(round), nothing)).toBe('apply')
        expect(await store.in(tx).advance(at(round), nothing)).toBe('duplicate')
        expect(await store.in(tx).current(payment)).toBe(round)
        await tx.query('COMMIT')
        expect(await store.current(payment)).toBe(round)
        await tx.query(forget)
      }
    })
  })

  test('a session that has a statement of the same name already is no obstacle', async () => {
    const first = pool({ max: 1 })
    await storeOn(first).advance(payment, nothing)
    const { rows } = await first.query("SELECT name FROM pg_prepared_statements WHERE name LIKE 'payment%'")
    expect(rows).toHaveLength(1)
    const second = pool({ max: 1 })
    await second.query(`PREPARE ${rows[0].name} AS SELECT 1`)
    expect(await storeOn(second).advance(other, nothing)).toBe('apply')
  })

  test('a pool does not keep a connection whose plans were lost', async () => {
    const database = pool({ max: 1 })
    const store = storeOn(database)
    const session = async () => (await database.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
    await store.advance(payment, nothing)
    const before = await session()
    await database.query('DISCARD ALL')
    expect(await store.advance(at(2), nothing)).toBe('apply')
    const after = await session()
    expect(after).not.toBe(before)
    expect(await store.advance(at(3), nothing)).toBe('apply')
    expect(await session()).toBe(after)
  })

  test('an error 26000 of the effect comes out, and its delivery is not repeated', async () => {
    const store = storeOn(pool({ max: 1 }))
    await store.advance(payment, nothing)
    let effects = 0
    const call = store.advance(other, async (tx) => {
      effects++
      await tx.query('EXECUTE no_such_statement')
    })
    await expect(call).rejects.toMatchObject({ code: '26000' })
    expect(effects).toBe(1)
  })
})
