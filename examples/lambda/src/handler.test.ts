import { createBuilders, createDeliveries, type SignedDelivery } from '@payment-integration/testing'
import { postgresVersionStore } from '@payment-integration/version-store/postgres'
import type { LambdaEventLike, LambdaHandler } from '@payment-integration/webhook/lambda'
import { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postgresMissing, startPostgres, type TestPostgres } from '../../../packages/store-sql/test/postgres.js'
import { createHandler } from './create-handler.js'
import { ordersTable } from './orders.js'

const secret = 'whsec_of_the_function'
const deliveries = createDeliveries({ secret })
const build = createBuilders({ seed: 5 })

/** The event of an HTTP API or a function URL, as AWS documents it (payload 2.0). */
const eventOf = ({ headers, body }: SignedDelivery, isBase64Encoded = true): LambdaEventLike => ({
  requestContext: { requestId: 'r', http: { method: 'POST' } },
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  body: Buffer.from(body).toString(isBase64Encoded ? 'base64' : 'utf8'),
  isBase64Encoded,
})

describe.skipIf(postgresMissing)(
  `on PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let postgres: TestPostgres
    let pool: Pool
    let handler: LambdaHandler
    const errors: unknown[] = []
    beforeAll(async () => {
      postgres = await startPostgres()
      pool = new Pool({ connectionString: postgres.connectionString })
      await pool.query(ordersTable)
      await postgresVersionStore({ database: pool }).migrate()
      handler = createHandler({ pool, secrets: ['whsec_new', secret], onError: (error) => void errors.push(error) })
    })
    afterAll(async () => {
      await pool?.end()
      await postgres?.remove()
    })
    beforeEach(() => {
      errors.length = 0
    })

    const call = async (delivery: SignedDelivery | Promise<SignedDelivery>, isBase64Encoded?: boolean) =>
      (await handler(eventOf(await delivery, isBase64Encoded), { getRemainingTimeInMillis: () => 3_000 })).statusCode
    const stateOf = async (id: string) =>
      (await pool.query('select state from orders where id = $1', [id])).rows[0]?.state
    async function order(id: string) {
      const snapshot = build.snapshot({ version: 1, state: 'pending' })
      await pool.query('insert into orders (id, chain_id, tx_hash) values ($1, $2, $3)', [
        id,
        snapshot.chainId,
        snapshot.txHash,
      ])
      return snapshot
    }

    test('moves the order, in any order of deliveries, with the body as text or as Base64', async () => {
      const pending = await order('order-1')
      const success = { ...pending, version: 2, state: 'success' as const }
      expect(await call(deliveries.good(success), false)).toBe(204)
      expect(await call(deliveries.good(pending))).toBe(204)
      expect(await stateOf('order-1')).toBe('success')
    })

    test('a delivery that comes before its order answers 500, and the next try is taken', async () => {
      const snapshot = build.snapshot({ version: 1, state: 'success' })
      expect(await call(deliveries.good(snapshot))).toBe(500)
      expect(errors).toMatchObject([{ name: 'OrderUnknownError' }])
      await pool.query('insert into orders values ($1, $2, $3)', ['order-2', snapshot.chainId, snapshot.txHash])
      expect(await call(deliveries.good(snapshot))).toBe(204)
      expect(await stateOf('order-2')).toBe('success')
    })

    test('what the service did not sign is refused and moves nothing', async () => {
      const snapshot = { ...(await order('order-3')), state: 'success' as const }
      expect(await call(deliveries.forged(snapshot))).toBe(401)
      expect(await call(deliveries.future(snapshot))).toBe(400)
      expect(await stateOf('order-3')).toBe(null)
      expect(errors).toEqual([])
    })

    test('the entry reads its environment', async () => {
      process.env['DATABASE_URL'] = postgres.connectionString
      process.env['WEBHOOK_SIGNING_SECRETS'] = secret
      const { handler: entry, pool: own } = await import('./index.js')
      const pending = await order('order-4')
      expect((await entry(eventOf(await deliveries.good(pending)))).statusCode).toBe(204)
      expect(await stateOf('order-4')).toBe('pending')
      await own.end()
    })
  },
)
