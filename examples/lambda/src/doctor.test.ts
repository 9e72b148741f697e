import { runDoctor } from '@payment-integration/testing/doctor'
import { createPostgresVersionStore } from '@payment-integration/version-store/postgres'
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgresMissing, startPostgres } from '../../../packages/store-sql/test/postgres.js'
import { createHandler } from './create-handler.js'
import { shopTables } from './orders.js'

describe.skipIf(postgresMissing)(
  `on PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    test('the function passes the doctor', async () => {
      const signingSecret = 'whsec_of_the_function'
      const postgres = await startPostgres()
      const pool = new Pool({ connectionString: postgres.connectionString })
      onTestFinished(async () => {
        await pool.end()
        await postgres.remove()
      })
      await pool.query(shopTables)
      await createPostgresVersionStore({ database: pool }).migrate()
      const handler = createHandler({ pool, secrets: [signingSecret], report: () => undefined })
      const report = await runDoctor({
        url: 'https://function.example/',
        signingSecret,
        integrationAddress: `0x${'ab'.repeat(20)}`,
        timeoutMs: 120_000,
        // As a function URL calls it.
        async fetch(_, { headers, body }) {
          const { statusCode } = await handler({
            requestContext: { http: { method: 'POST' } },
            headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
            body: Buffer.from(body).toString('base64'),
            isBase64Encoded: true,
          })
          return new Response(null, { status: statusCode })
        },
      })
      expect(report.findings).toEqual([])
      expect(report.failed).toBe(0)
    })
  },
)
