import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pgbouncerMissing, startPgBouncer, type TestPooler } from '../../../store-sql/test/pgbouncer.js'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../../store-sql/test/postgres.js'
import { kinds, startFailoverLoad } from '../../test/support/failover-load.js'
import { startRecordingReceiver } from '../../test/support/recording-receiver.js'
import { tempConfig } from '../../test/support/temp-config.js'
import { startServer } from './start-server.js'

const integrationAddress = `0x${'a1'.repeat(20)}`
const processorSecret = 'a-processor-secret-of-the-tests'
const missing = postgresMissing ?? pgbouncerMissing

describe.skipIf(missing)(
  `a server behind PgBouncer in transaction mode${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    let database: TestDatabase
    let pooler: TestPooler
    let receiver: Awaited<ReturnType<typeof startRecordingReceiver>>
    beforeEach(async () => {
      database = await createTestDatabase()
      const ignored = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
      pooler = await startPgBouncer(database.connectionString, { poolSize: 3, ignored })
      receiver = await startRecordingReceiver()
    })
    afterEach(async () => {
      await receiver?.stop()
      await pooler?.stop()
      await database?.remove()
    })

    async function start(env: Record<string, string>) {
      const { config, remove } = await tempConfig({
        PI_DATABASE_URL: pooler.connectionString,
        PI_MIGRATE: 'on',
        PI_PROCESSOR_SECRETS: processorSecret,
        ...env,
      })
      const server = await startServer(config)
      const notificationUrl = `${receiver.url}/hook`
      const { apiSecret } = await server.service.integrations.create({ address: integrationAddress, notificationUrl })
      const load = startFailoverLoad({ server, integrationAddress, apiSecret, processorSecret }, 6)
      const stop = async () => {
        await server.stop()
        await remove()
      }
      return { load, stop }
    }

    it('answers, indexes, applies updates and delivers without a single error', async () => {
      const direct = database.connectionString
      const variables = { PI_DATABASE_PREPARED: 'off', PI_DATABASE_DIRECT_URL: direct, PI_CONSOLE: 'on' }
      const { load, stop } = await start(variables)
      while (kinds.some((kind) => load.successesAfter(kind, 0) < 40)) await delay(10)
      await load.stop()
      const newest = new Map([...load.updates.values()].map(({ txHash, version }) => [txHash, version]))
      const isDelivered = ([txHash, version]: [string, number]) =>
        receiver.snapshots(txHash).some((each) => each.version === version)
      while (![...newest].every(isDelivered)) await delay(10)
      expect(load.failures).toEqual({ index: 0, update: 0, read: 0 })
      await stop()
    })

    it('fails with prepared statements: the variable is needed', async () => {
      const { load, stop } = await start({})
      const failed = () => kinds.reduce((sum, kind) => sum + load.failures[kind], 0)
      while (failed() === 0) await delay(10)
      await load.stop('gives up')
      await stop()
    })
  },
)
