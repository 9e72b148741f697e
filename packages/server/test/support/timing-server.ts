/**
 * The app on an existing database, as a separate process: node timing-server.ts DATABASE NOW. It sends its URL to its
 * parent, and exits with it.
 */
import { createService, parseMasterKey, silentLogger, systemClock } from '@payment-integration/core'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { createApp } from '../../src/app/create-app.js'
import { listenHttp } from '../../src/run/http-server.js'
import { createRequestListener } from '../../src/run/request-listener.js'
import { createUndiciSender } from '../../src/sender/undici-sender.js'
import { timingMasterKey } from './start-timing-server.js'

const [path = '', now = ''] = process.argv.slice(2)
const service = createService({
  store: createSqliteStore({ path }),
  sender: createUndiciSender(),
  clock: { ...systemClock, now: () => Number(now) },
  masterKey: parseMasterKey(timingMasterKey),
  logger: silentLogger,
})
const health = async () => ({ status: 'ok', database: 'ok', chains: [] }) as const
const app = createApp({ service, receiveUpdate: null, health })
const { url } = await listenHttp({ host: '127.0.0.1', port: 0 }, await createRequestListener(app, silentLogger))
process.once('disconnect', () => process.exit())
process.send?.(url)
