/** docs/decisions/listen.md on PostgreSQL: no delivery is skipped, whatever order its transactions commit in. */
import { deliveryStreamPath } from '@payment-integration/contract'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../../store-sql/test/postgres.js'
import { openEvents } from '../../test/support/event-stream.js'
import { facts } from '../../test/support/index-payments.js'
import { basic } from '../../test/support/integration-service.js'
import { seededFraction } from '../../test/support/seeded-fraction.js'
import { eventually } from '../../test/support/tcp-server.js'
import { tempConfig } from '../../test/support/temp-config.js'
import { startServer } from '../run/start-server.js'

const seed = Number(process.env['STREAM_SEED'] ?? Date.now() & 0x7fffffff)
const shops = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`] as const
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
const [writers, rounds] = [4, 25]

describe.skipIf(postgresMissing)('the stream on PostgreSQL', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database?.remove())

  it(`skips nothing while several connections commit out of order and readers are cut (seed ${seed})`, async () => {
    const random = seededFraction(seed)
    const { connectionString } = database
    const { config, remove } = await tempConfig({
      PI_DATABASE_URL: connectionString,
      PI_MIGRATE: 'on',
      PI_LISTEN: 'on',
    })
    const server = await startServer(config)
    const { integrations } = server.service
    const issued = await Promise.all(
      shops.map((address) => integrations.create({ address, notificationUrl: 'http://127.0.0.1:9/hook' })),
    )
    const committed = shops.map(() => new Set<string>())
    let ready = 0
    let isWriting = true

    /** Transactions of one connection; each stays open for a while after its inserts. */
    async function write(writer: number): Promise<void> {
      const store = createPostgresStore({ connectionString })
      for (let round = 0; round < rounds; round += 1) {
        const place = random() < 0.5 ? 0 : 1
        const [txHash, pauseMs] = [hash(1_000 * (writer + 1) + round), Math.floor(random() * 40)]
        await store.transaction(async (tx) => {
          const { inserted } = await tx.upsertPayments([
            { facts: facts({ txHash, integrationAddress: shops[place] }), primary: true },
          ])
          const body = Buffer.from(JSON.stringify({ txHash }))
          await tx.insertSnapshots(
            inserted.map(({ id: paymentId, integrationAddress, chainId }) => {
              return { paymentId, version: 1, body, integrationAddress, chainId, txHash }
            }),
          )
          await new Promise((resolve) => setTimeout(resolve, pauseMs))
        })
        committed[place]?.add(txHash)
      }
      await store.close()
    }

    /** Reads the stream of one integration; its connections are cut at random and resumed. */
    async function read(place: 0 | 1): Promise<Set<string>> {
      const Authorization = basic(shops[place], issued[place]?.apiSecret ?? '')
      const seen = new Set<string>()
      let id: string | undefined
      for (let isLast = false; ; ) {
        isLast = !isWriting
        const most = 2 + Math.floor(random() * 6)
        const resume: Record<string, string> = id === undefined ? {} : { 'Last-Event-ID': id }
        const stream = await openEvents(`${server.url}${deliveryStreamPath}`, { Authorization, ...resume })
        await eventually(() => {
          const { events } = stream
          const has = (txHash: string) => seen.has(txHash) || events.some(({ data }) => data.txHash === txHash)
          if (isLast) return [...(committed[place] ?? [])].every(has)
          if (id === undefined && events.length > 0) ready += 1
          id = events.at(-1)?.id ?? id
          return events.length > 0 && (events.length >= most || !isWriting)
        })
        id = stream.events.at(-1)?.id
        for (const { event, data } of stream.events) if (event === 'delivery') seen.add(data.txHash)
        stream.close()
        if (isLast) return seen
      }
    }

    const reading = Promise.all([read(0), read(1)])
    await eventually(() => ready === 2)
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
    isWriting = false
    const seen = await reading
    // A skipped delivery never arrives: then the last connection waits for it in vain.
    for (const [place, own] of seen.entries()) expect([...own].sort()).toEqual([...(committed[place] ?? [])].sort())
    expect(committed.every(({ size }) => size > 0)).toBe(true)
    await server.stop()
    await remove()
  })
})
