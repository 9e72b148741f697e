/**
 * Turns blocks of READMEs and guides into programs beside a local service. `before` and `after` wrap the block. `swap`
 * replaces addresses that exist only in the text. `says` is the expected output. `service` is the running service's
 * `ready` event, with a free `port`.
 * @module
 */
import { randomBytes } from 'node:crypto'

/** A master key must be random. */
const masterKey = randomBytes(32).toString('hex')

const getChain = (service) => `
  import { createEvmChain } from '@payment-integration/chain-evm'
  const chain = createEvmChain({ chainId: ${service.chainId}, rpcUrl: '${service.rpcUrl}', routers: [${getRouter(service)}] })`

const getRouter = ({ router, routerVersion }) => `{ address: '${router}', version: '${routerVersion}' }`

/** The plans by file and position of the block. */
export const plans = {
  'packages/chain-evm/README.md 0': (service) => ({
    swap: [
      ['https://node.example/key', service.rpcUrl],
      ['knownRouters(8453)', `[${getRouter(service)}]`],
      ['8453', service.chainId],
    ],
    // The block reads the newest ten blocks, and the chain is younger than that.
    before: `
      const call = { jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: ['0x4'] }
      const headers = { 'content-type': 'application/json' }
      await fetch('${service.rpcUrl}', { method: 'POST', headers, body: JSON.stringify(call) })`,
    after: "console.log('receipts', typeof receipts)",
    says: /memoHex: '0x6f726465722d33[\s\S]*receipts object/,
  }),
  'packages/chain-evm/README.md 1': (service) => ({
    before: `
      import { createEvmChain } from '@payment-integration/chain-evm'
      const integrationAddress = '${service.integrationAddress}', receiver = '${service.accountAddress}'`,
    after: "console.log('chain', typeof chain.head)",
    says: /chain function/,
  }),
  'packages/cli/README.md 0': () => ({ after: "console.log('runCli', typeof runCli)", says: /runCli function/ }),
  'packages/contract/README.md 0': (service) => ({
    before: `
      const credentials = btoa('${service.integrationAddress}:${service.apiSecret}')
      const page = await fetch('${service.url}/api/v1/integration/payments', { headers: { authorization: 'Basic ' + credentials } })
      const text = JSON.stringify((await page.json()).payments[0])`,
    says: /^\d+ 0x[0-9a-f]{64} \d+ [\d.]+\n200\n$/,
  }),
  'packages/contract/README.md 1': () => ({
    before: "import { readFileSync } from 'node:fs'",
    after: "console.log(Object.keys(JSON.parse(readFileSync('openapi.json', 'utf8')).paths).join())",
    says: /\/api\/v1\/integration\/payments,/,
  }),
  'packages/core/README.md 0': (service) => ({
    env: { MASTER_KEY: masterKey },
    before: `
      import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
      import { createUndiciSender } from '@payment-integration/server'
      ${getChain(service)}
      const store = createSqliteStore({ path: 'core.db' })
      await store.migrate()
      const sender = createUndiciSender()
      const address = '${service.integrationAddress}', notificationUrl = 'https://shop.example/hook'
      const signal = AbortSignal.timeout(1500)`,
    after: "console.log('secrets', apiSecret.slice(0, 7), signingSecret.slice(0, 9)); await store.close()",
    says: /secrets pi_api_ pi_whsec_/,
  }),
  'packages/server/README.md 0': (service) => ({
    env: {
      PI_MASTER_KEY: masterKey,
      PI_DATABASE_URL: 'sqlite:server.db',
      PI_PORT: '0',
      PI_LOG_LEVEL: 'error',
      [`PI_RPC_URL_${service.chainId}`]: service.rpcUrl,
      [`PI_ROUTERS_${service.chainId}`]: `${service.router}@${service.routerVersion}`,
    },
    after: "console.log((await fetch(server.url + '/health')).status, apiSecret.slice(0, 7)); await server.stop()",
    says: /Listening on http.*\n200 pi_api_/,
  }),
  'docs/guides/serve-shared-verifications.md 0': () => ({
    env: { MASTER_KEY: masterKey },
    before: `
      import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
      import { createUndiciSender } from '@payment-integration/server'
      const store = createSqliteStore({ path: 'identity.db' })
      await store.migrate()
      const sender = createUndiciSender()
      const masterKey = process.env.MASTER_KEY ?? ''
      const [appToken, secretKey, secret] = ['app-token', 'secret-key', 'secret-of-the-webhook']
      const health = async () => ({ status: 'ok' as const, database: 'ok' as const, chains: [] })`,
    after: `
      const webhook = new Request('http://localhost/api/v1/identity-provider/webhook', { method: 'POST', body: '{}' })
      console.log('unsigned webhook', (await app.fetch(webhook)).status)
      provider.close()
      await sender.close()
      await store.close()`,
    says: /unsigned webhook 400/,
  }),
  'docs/guides/limit-requests.md 0': () => ({
    after: "console.log('waits', limits.countRequest('192.0.2.1'))",
    says: /waits 0/,
  }),
  'packages/store-sql/README.md 0': () => ({ after: "console.log('closed')", says: /closed/ }),
  'docs/guides/test-shared-verifications.md 1': () => ({
    before: `
      import { createServer } from 'node:http'
      import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
      const digests = []
      const hook = createServer((request, response) => {
        digests.push(request.headers['x-payload-digest'])
        response.end()
      })
      await new Promise((resolve) => hook.listen(0, '127.0.0.1', resolve))
      const webhookUrl = 'http://127.0.0.1:' + hook.address().port, webhookSecret = 'secret-of-the-webhooks'
      const clients = [{ clientId: 'PaymentService', appToken: 'sbx:it', secretKey: 'its-secret', partners: [] }]
      const provider = await startIdentityProvider({ clients })
      const { id: applicantId } = provider.addApplicant({ clientId: 'PaymentService' })`,
    after: "console.log('webhooks', digests.join()); await provider.close(); hook.closeAllConnections(); hook.close()",
    says: /webhooks [0-9a-f]{40,}/,
  }),
}
