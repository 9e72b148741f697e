/** A rolling restart behind a balancer that reads `/ready`. Source: docs/roles.md. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase, postgresMissing } from '../../store-sql/test/postgres.js'
import { type RunningServer, startServer } from '../src/run/start-server.js'
import { startBalancer } from './support/balancer.js'
import { facts, indexPayments } from './support/index-payments.js'
import { basic } from './support/integration-service.js'
import { eventually } from './support/tcp-server.js'
import { tempConfig } from './support/temp-config.js'

const address = `0x${'aa'.repeat(20)}`
const [clients, restarts] = [8, 6]

describe.skipIf(postgresMissing)('behind a balancer', () => {
  it('a rolling restart of two processes loses no request', async () => {
    const database = await createTestDatabase()
    onTestFinished(() => database.remove())
    const { config, remove } = await tempConfig({
      PI_DATABASE_URL: database.connectionString,
      PI_MIGRATE: 'on',
      PI_ADMIN_PORT: '0',
      PI_DRAIN_MS: '1500',
      // Limits that a slow machine does not reach.
      PI_SHUTDOWN_TIMEOUT_MS: '600000',
      PI_KEEP_ALIVE_MS: '600000',
    })
    onTestFinished(remove)
    const balancer = await startBalancer()
    onTestFinished(balancer.stop)

    async function start(): Promise<RunningServer> {
      const server = await startServer(config)
      balancer.add(server)
      await eventually(() => balancer.isUsed(server))
      return server
    }
    async function stop(server: RunningServer): Promise<void> {
      await server.stop()
      balancer.remove(server)
    }

    const running = [await start(), await start()]
    const [first] = running
    const { apiSecret } = (await first?.service.integrations.create({ address })) ?? { apiSecret: '' }
    if (first) await indexPayments(first.service.store, [facts({ integrationAddress: address })])
    const headers = { authorization: basic(address, apiSecret) }

    let isAsking = true
    const statuses = new Map<number, number>()
    const asking = Array.from({ length: clients }, async () => {
      while (isAsking) {
        const answer = await fetch(`${balancer.url}/api/v1/integration/payments`, { headers })
        await answer.arrayBuffer()
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      }
    })
    const total = () => [...statuses.values()].reduce((sum, count) => sum + count, 0)
    const someMore = async () => {
      const before = total()
      await eventually(() => total() > before + 20)
    }
    await someMore()
    for (let restart = 0; restart < restarts; restart += 1) {
      const old = running.shift()
      if (old) await stop(old)
      running.push(await start())
      await someMore()
    }
    isAsking = false
    await Promise.all(asking)
    for (const server of running) await stop(server)
    expect(balancer.lost).toEqual([])
    expect([...statuses.keys()]).toEqual([200])
    // Every process that ran answered some.
    expect(balancer.answered.size).toBe(restarts + 2)
  })
})
