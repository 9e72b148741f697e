import { createClient } from '@payment-integration/client'
import { runDoctor } from '@payment-integration/testing/doctor'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgresMissing, startPostgres } from '../../../packages/store-sql/test/postgres.js'
import { startShop } from './shop.js'

describe.skipIf(postgresMissing)(
  `on PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    test('the shop passes the doctor', async () => {
      const signingSecret = 'whsec_of_the_shop'
      const integrationAddress = `0x${'ab'.repeat(20)}`
      const postgres = await startPostgres()
      const pool = new pg.Pool({ connectionString: postgres.connectionString })
      const shop = await startShop({
        pool,
        // Nothing reads payments here, and the next run of the timer is a day away.
        client: createClient({ baseUrl: 'http://127.0.0.1:1', integrationAddress, apiSecret: 'unused', maxRetries: 0 }),
        receiver: `0x${'6a'.repeat(20)}`,
        secrets: [signingSecret],
        reconcileMs: 86_400_000,
        port: 0,
        report: () => undefined,
      })
      onTestFinished(async () => {
        await shop.stop()
        await pool.end()
        await postgres.remove()
      })
      const report = await runDoctor({
        url: `${shop.url}/webhook`,
        signingSecret,
        integrationAddress,
        timeoutMs: 120_000,
      })
      expect(report.findings).toEqual([])
      expect(report.notRun).toBe(0)
    })
  },
)
