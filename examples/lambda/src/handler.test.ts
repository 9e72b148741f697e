import { createBuilders, createDeliveries, type SignedDelivery } from '@payment-integration/testing'
import { runDoctor } from '@payment-integration/testing/doctor'
import { createPostgresVersionStore } from '@payment-integration/version-store/postgres'
import type { LambdaEventLike, LambdaHandler } from '@payment-integration/webhook/lambda'
import { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../packages/store-sql/test/postgres.js'
import { describeOnPostgres } from '../../../packages/store-sql/test/support/on-postgres.js'
import { createHandler } from './create-handler.js'
import { noteOrder, type Order, shopTables } from './orders.js'

const secret = 'whsec_of_the_function'
const deliveries = createDeliveries({ secret })
const build = createBuilders({ seed: 5 })
const invoice = { amount: '12.5', currency: 'EUR', settlementAmount: '13.61', settlementCurrency: 'USD' }

/** The event of an HTTP API or a function URL, as AWS documents it (payload 2.0). */
const makeEvent = ({ headers, body }: SignedDelivery, isBase64Encoded = true): LambdaEventLike => ({
  requestContext: { requestId: 'r', http: { method: 'POST' } },
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  body: Buffer.from(body).toString(isBase64Encoded ? 'base64' : 'utf8'),
  isBase64Encoded,
})

describeOnPostgres('on PostgreSQL', () => {
  let postgres: TestPostgres
  let pool: Pool
  let handler: LambdaHandler
  const errors: unknown[] = []
  const reports: string[] = []
  const report = (line: string) => void reports.push(line)
  beforeAll(async () => {
    postgres = await startPostgres()
    pool = new Pool({ connectionString: postgres.connectionString })
    await pool.query(shopTables)
    await createPostgresVersionStore({ database: pool }).migrate()
    const onError = (error: unknown) => void errors.push(error)
    handler = createHandler({ pool, secrets: ['whsec_new', secret], onError, report })
  })
  afterAll(async () => {
    await pool?.end()
    await postgres?.remove()
  })
  beforeEach(() => {
    errors.length = 0
    reports.length = 0
  })

  const call = async (delivery: SignedDelivery | Promise<SignedDelivery>, isBase64Encoded?: boolean) =>
    (await handler(makeEvent(await delivery, isBase64Encoded), { getRemainingTimeInMillis: () => 3_000 })).statusCode
  const find = async (id: string) => {
    const query =
      'select state, paid_at is not null as paid from orders left join payments on order_id = id where id = $1'
    return (await pool.query(query, [id])).rows[0]
  }
  /** Stores an order like a checkout. */
  async function note(id: string, { chainId, txHash }: Pick<Order, 'chainId' | 'txHash'>) {
    const tx = await pool.connect()
    try {
      await tx.query('begin')
      await noteOrder(tx, { id, price: '12.50', currency: 'EUR', chainId, txHash }, report)
      await tx.query('commit')
    } catch (error) {
      await tx.query('rollback')
      throw error
    } finally {
      tx.release()
    }
  }
  const payment = () => build.snapshot({ version: 1, state: 'pending', invoice })

  test('moves the order, in any order of deliveries, with the body as text or as Base64', async () => {
    const pending = payment()
    await note('order-1', pending)
    const success = { ...pending, version: 2, state: 'success' as const }
    expect(await call(deliveries.good(success), false)).toBe(204)
    expect(await call(deliveries.good(pending))).toBe(204)
    expect(await find('order-1')).toEqual({ state: 'success', paid: true })
    expect(reports).toEqual([])
  })

  test('a payment without an order is accepted, and pays the order that is stored later', async () => {
    const success = { ...payment(), state: 'success' as const }
    expect(await call(deliveries.good(success))).toBe(204)
    await note('order-2', success)
    expect(await find('order-2')).toEqual({ state: 'success', paid: true })
    await expect(note('order-of-another', success)).rejects.toThrow('belongs to another order')
    expect(await find('order-of-another')).toBe(undefined)
    expect(errors).toEqual([])
  })

  test.each([
    ['too little', { ...invoice, amount: '12.49' }, '12.49 EUR'],
    ['another currency', { ...invoice, currency: 'USD' }, '12.5 USD'],
    ['no invoice', null, 'no amount '],
  ])('a success over %s pays nothing, and is reported', async (name, wrong, said) => {
    const success = { ...payment(), state: 'success' as const, invoice: wrong }
    await note(name, success)
    expect(await call(deliveries.good(success))).toBe(204)
    expect(await find(name)).toEqual({ state: 'success', paid: false })
    expect(reports).toEqual([`order ${name} costs 12.50 EUR; payment ${success.txHash} is a success over ${said}`])
  })

  test('a delivery that the service did not sign is rejected and changes nothing; the report has the code', async () => {
    const snapshot = { ...payment(), state: 'success' as const }
    await note('order-3', snapshot)
    expect(await call(deliveries.forged(snapshot))).toBe(401)
    expect(await call(deliveries.future(snapshot))).toBe(400)
    expect(await find('order-3')).toEqual({ state: null, paid: false })
    expect(errors).toEqual([])
    expect(reports).toEqual(
      ['ERR_SIGNATURE_MISMATCH', 'ERR_DELIVERY_FUTURE'].map((code) => `a delivery was rejected: ${code}`),
    )
  })

  test('the function passes the doctor', async () => {
    const outcome = await runDoctor({
      ...{ url: 'https://function.example/', signingSecret: secret, integrationAddress: `0x${'ab'.repeat(20)}` },
      timeoutMs: 120_000,
      fetch: async (_, { headers, body }) =>
        new Response(null, { status: (await handler(makeEvent({ headers, body }))).statusCode }),
    })
    expect([outcome.findings, outcome.failed]).toEqual([[], 0])
  })

  test('the entry reads its environment', async () => {
    process.env['DATABASE_URL'] = postgres.connectionString
    process.env['WEBHOOK_SIGNING_SECRETS'] = secret
    const { handler: entry, pool: own } = await import('./index.js')
    const pending = payment()
    await note('order-4', pending)
    expect((await entry(makeEvent(await deliveries.good(pending)))).statusCode).toBe(204)
    expect(await find('order-4')).toEqual({ state: 'pending', paid: false })
    await own.end()
  })
})
