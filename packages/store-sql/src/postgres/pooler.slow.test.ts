import type { Store } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { pgbouncerMissing, startPgBouncer, type TestPooler, type TestPoolerOptions } from '../../test/pgbouncer.js'
import { describeUnless, onOwnPostgres } from '../../test/support/on-postgres.js'
import type { PostgresStoreOptions } from './create-postgres-store.js'

const { getStatus, hash, indexAll, indexPayments, primary, setStatus, shop } = fixtures

describeUnless(pgbouncerMissing, 'PgBouncer', () => {
  onOwnPostgres('in transaction mode', { fsync: false }, (postgres) => {
    const { connect, nextSchema, onEnd, open, openMigrated } = postgres
    async function startPooler(options?: TestPoolerOptions): Promise<TestPooler> {
      const pooler = await startPgBouncer(postgres.connectionString(), options)
      onEnd(() => pooler.stop())
      return pooler
    }
    let schema = ''
    async function openThrough({ connectionString }: TestPooler, options: Partial<PostgresStoreOptions> = {}) {
      schema = nextSchema()
      return openMigrated({ connectionString, preparedStatements: false, schema, ...options })
    }
    const list = { integrationAddress: shop, limit: 200 }

    /** Indexing, updates, claims and reads at once; the errors of all of them. */
    async function work(store: Store, rounds: number): Promise<string[]> {
      const errors: string[] = []
      const noted = (promise: Promise<unknown>) => promise.catch((error) => errors.push(String(error?.cause ?? error)))
      const round = async (n: number) => {
        await noted(
          store.transaction(async (tx) => {
            await tx.lockChain(1)
            await indexPayments(tx, [primary({ txHash: hash(n) })])
          }),
        )
        await Promise.all([
          noted(
            store.transaction(
              async (tx) => {
                const [payment] = await tx.paymentsForChange({ chainId: 1, txHash: hash(n) })
                if (payment !== undefined) await setStatus(tx, payment.id, getStatus(payment.version + 1))
              },
              { searches: true },
            ),
          ),
          noted(store.payments.list(list)),
          noted(store.payments.findByHash({ integrationAddress: shop, txHash: hash(n) })),
          noted(store.payments.transaction({ chainId: 1, txHash: hash(n) })),
          noted(store.deliveries.claim({ limit: 5, leaseMs: 60_000 })),
        ])
      }
      // No call waits for long for one of the connections, however slow the machine is.
      for (let n = 0; n < rounds; n += 4) await Promise.all([0, 1, 2, 3].map((more) => round(n + more)))
      return errors
    }

    test('without prepared statements nothing fails, whichever connection a transaction gets', async () => {
      const store = await openThrough(await startPooler({ poolSize: 2 }))
      expect(await work(store, 40)).toEqual([])
      const { payments } = await store.payments.list(list)
      expect(payments.map(({ version }) => version)).toEqual(Array(40).fill(2))
    })

    test('with prepared statements the same work fails: the option is needed', async () => {
      const ignored = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
      const pooler = await startPooler({ poolSize: 2, ignored })
      const migrated = await openThrough(pooler)
      const store = open({ connectionString: pooler.connectionString, schema })
      const errors = await work(store, 40)
      expect(errors.join('\n')).toMatch(/prepared statement "[^"]+" (already exists|does not exist)/)
      await migrated.ping()
    })

    test('time limits hold in each transaction, and leave nothing on the connection that others get', async () => {
      const pooler = await startPooler({ poolSize: 1 })
      const store = await openThrough(pooler, { lockTimeoutMs: 300 })
      const holder = await connect()
      await store.transaction((tx) => tx.lockChain(7))
      await holder.query(`begin; select 1 from ${schema}.locks where name = 'chain 7' for update`)
      await expect(store.transaction((tx) => tx.lockChain(7))).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
      await holder.query('rollback')
      const other = await connect({ connectionString: pooler.connectionString })
      const { rows } = await other.query(`select current_setting('lock_timeout') as lock, pg_backend_pid() as pid`)
      expect(rows).toEqual([{ lock: '0', pid: expect.any(Number) }])
    })

    test('the indexes of the console are made, with and without an address past the pooler', async () => {
      const pooler = await startPooler()
      for (const directConnectionString of [undefined, postgres.connectionString()]) {
        const store = await openThrough(pooler, { directConnectionString })
        await store.console.prepare()
        expect((await store.console.payments({ limit: 5 })).rows).toEqual([])
      }
    })

    test('deliveries of another process are heard of at an address past the pooler', async () => {
      const pooler = await startPooler()
      const store = await openThrough(pooler, { directConnectionString: postgres.connectionString() })
      const other = open({ connectionString: pooler.connectionString, preparedStatements: false, schema })
      let heard = 0
      const first = new Promise<void>((resolve) => {
        store.deliveries.whenDue?.(() => {
          heard += 1
          resolve()
        })
      })
      await first
      const before = heard
      await indexAll(other, [primary()])
      await expect.poll(() => heard, { timeout: 60_000 }).toBeGreaterThan(before)
    })

    test('a pooler that rejects the time limits of a session is reported by its code', async () => {
      const { connectionString } = await startPooler()
      await expect(open({ connectionString }).ping()).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        cause: { code: '08P01' },
      })
    })
  })
})
