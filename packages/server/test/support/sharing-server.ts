/**
 * The app that shares verifications, as a separate process: node sharing-server.ts DATABASE PROVIDER. DATABASE is the
 * path of a migrated SQLite file, or the postgres:// address of a migrated database. PROVIDER is the address of an
 * identity provider, or `instant` for one that answers at once. It sends its URL to its parent, and exits with it.
 */
import { createService, parseMasterKey, silentLogger, systemClock } from '@payment-integration/core'
import type { IdentityProvider } from '@payment-integration/core/ports'
import { createSumsubApi } from '@payment-integration/identity-sumsub/service'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { createApp } from '../../src/app/create-app.js'
import { createSumsubProvider } from '../../src/identity/sumsub-provider.js'
import { listenHttp } from '../../src/run/http-server.js'
import { createRequestListener } from '../../src/run/request-listener.js'
import { createUndiciSender } from '../../src/sender/undici-sender.js'
import { sharingClient } from './start-sharing-server.js'
import { timingMasterKey } from './start-timing-server.js'

const [database = '', address = ''] = process.argv.slice(2)
const instant: IdentityProvider = {
  redeem: async ({ externalUserId }) => ({
    kind: 'redeemed',
    applicant: { applicantId: `of-${externalUserId}`, review: null },
  }),
  find: async () => ({ kind: 'answer', value: null }),
  review: async () => ({ kind: 'answer', value: null }),
}
const { appToken, secretKey } = sharingClient
const provider =
  address === 'instant'
    ? instant
    : createSumsubProvider(createSumsubApi, { baseUrl: address, appToken, secretKey, levelName: 'basic-kyc-level' })
const store = database.startsWith('postgres:')
  ? createPostgresStore({ connectionString: database })
  : createSqliteStore({ path: database })
const service = createService({
  store,
  sender: createUndiciSender(),
  clock: systemClock,
  masterKey: parseMasterKey(timingMasterKey),
  logger: silentLogger,
  identity: { provider },
})
const app = createApp({
  service,
  receiveUpdate: null,
  health: async () => ({ status: 'ok', database: 'ok', chains: [] }),
})
const { url } = await listenHttp({ host: '127.0.0.1', port: 0 }, await createRequestListener(app, silentLogger))
process.once('disconnect', () => process.exit())
process.send?.(url)
