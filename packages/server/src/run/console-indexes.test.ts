import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase, postgresMissing } from '../../../store-sql/test/postgres.js'
import { getTempConfig } from '../../test/support/temp-server.js'
import { startServer } from './start-server.js'

describe.skipIf(postgresMissing)('the indexes of the console on PostgreSQL', () => {
  it('are made beside the work: a server serves and stops while it waits for a migration', async () => {
    const { connectionString, remove } = await createTestDatabase()
    onTestFinished(remove)
    const store = createPostgresStore({ connectionString })
    await store.migrate()
    await store.close()
    const migrator = new pg.Client({ connectionString })
    await migrator.connect()
    // A lease that ends later than any lease may counts as over.
    await migrator.query(
      `update payment_integration.locks set holder = 'other',
       expires_at = extract(epoch from statement_timestamp()) * 1000 + 500000 where name = 'migration'`,
    )
    const config = await getTempConfig({ PI_DATABASE_URL: connectionString, PI_CONSOLE: 'on' })
    const server = await startServer(config)
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    await server.stop()
    const { rows } = await migrator.query("select 1 from pg_indexes where indexname = 'payments_memo'")
    expect(rows).toEqual([])
    await migrator.end()
  })
})
