import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pgbouncerMissing, startPgBouncer } from '../../../store-sql/test/pgbouncer.js'
import { createTestDatabase, postgresMissing } from '../../../store-sql/test/postgres.js'
import { kinds, startFailoverLoad } from '../../test/support/failover-load.js'
import { startRecordingReceiver } from '../../test/support/recording-receiver.js'
import { startTempServer } from '../../test/support/temp-server.js'

const integrationAddress = `0x${'a1'.repeat(20)}`
const processorSecret = 'a-processor-secret-of-the-tests'
const missing = postgresMissing ?? pgbouncerMissing

describe.skipIf(missing)(
  `a server behind PgBouncer in transaction mode${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    async function start(env: Record<string, string>, { direct = false } = {}) {
      const database = await createTestDatabase()
      onTestFinished(() => database.remove())
      const ignored = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
      const pooler = await startPgBouncer(database.connectionString, { poolSize: 3, ignored })
      onTestFinished(() => pooler.stop())
      const receiver = await startRecordingReceiver()
      onTestFinished(receiver.stop)
      const server = await startTempServer({
        PI_DATABASE_URL: pooler.connectionString,
        PI_MIGRATE: 'on',
        PI_PROCESSOR_SECRETS: processorSecret,
        ...(direct ? { PI_DATABASE_DIRECT_URL: database.connectionString } : {}),
        ...env,
      })
      const notificationUrl = `${receiver.url}/hook`
      const { apiSecret } = await server.service.integrations.create({ address: integrationAddress, notificationUrl })
      return { receiver, load: startFailoverLoad({ server, integrationAddress, apiSecret, processorSecret }, 6) }
    }

    it('answers, indexes, applies updates and delivers without a single error', async () => {
      const variables = { PI_DATABASE_PREPARED: 'off', PI_CONSOLE: 'on' }
      const { load, receiver } = await start(variables, { direct: true })
      while (kinds.some((kind) => load.successesAfter(kind, 0) < 40)) await delay(10)
      await load.stop()
      const newest = new Map([...load.updates.values()].map(({ txHash, version }) => [txHash, version]))
      const isDelivered = ([txHash, version]: [string, number]) =>
        receiver.snapshots(txHash).some((each) => each.version === version)
      while (![...newest].every(isDelivered)) await delay(10)
      expect(load.failures).toEqual({ index: 0, update: 0, read: 0 })
    })

    it('fails with prepared statements: the variable is needed', async () => {
      const { load } = await start({})
      const failed = () => kinds.reduce((sum, kind) => sum + load.failures[kind], 0)
      while (failed() === 0) await delay(10)
      await load.stop('gives up')
    })
  },
)
