/** A host with no optional peer of the server: it serves the app and sends a notification. Ends with 1 on a failure. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createApp, createMetrics, createUndiciSender } from '@payment-integration/server'
import { openService, readConfig } from '@payment-integration/server/service'

const service = { authenticate: async () => null, authenticateLegacy: async () => null, identity: null }
const health = async () => ({ status: 'ok', database: 'ok', chains: [] })
const app = createApp({ service, receiveUpdate: null, health })
const getStatus = async (path) => (await app.request(path)).status
assert.deepEqual([await getStatus('/health'), await getStatus('/api/v1/integration/payments')], [200, 401])

const receiver = createServer((_, response) => response.writeHead(204).end()).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const sender = createUndiciSender({ allowLoopbackHttp: true })
const url = `http://127.0.0.1:${receiver.address().port}/hook`
const outcome = await sender.post({ url, headers: {}, body: new TextEncoder().encode('{}'), timeoutMs: 30_000 })
assert.equal(outcome.status, 204, JSON.stringify(outcome))
await sender.close()
receiver.close()

const config = readConfig({ PI_MASTER_KEY: '0123456789abcdef'.repeat(4), PI_DATABASE_URL: 'sqlite:never-made.db' })
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const missing = (packageName, setting) => ({ code: 'ERR_PACKAGE_MISSING', packageName, setting })
await assert.rejects(openService(config, { logger }), missing('@payment-integration/store-sql', 'PI_DATABASE_URL'))
await assert.rejects(createMetrics(), { code: 'ERR_PACKAGE_MISSING', packageName: 'prom-client' })
