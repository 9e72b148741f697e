import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { describeConfig } from './describe-config.js'
import { readConfig } from './read-config.js'

const key = randomBytes(32).toString('hex')
const router = `0x${'Ab'.repeat(20)}`
const token = `0x${'12'.repeat(20)}`

it('masks secrets, credentials, paths and queries', () => {
  const config = readConfig({
    PI_MASTER_KEY: key,
    PI_PROCESSOR_SECRETS: 'CANARY-secret-of-it',
    PI_DATABASE_URL: 'postgres://CANARY:CANARY@db.example:5432/payments?password=CANARY',
    PI_RPC_URL_1: 'https://CANARY:CANARY@rpc.example:8443/v3/CANARY?key=CANARY,wss://second.example/CANARY',
    PI_HEADS_URL_1: 'wss://heads.example/CANARY',
    PI_TOKENS_1: `${router}:DAI:USD,${token}:USDC:USD`,
    PI_PRICE_FEEDS_1: `${router}:CHF:USD:8`,
    PI_SPOKE_POOLS_1: router,
    PI_ADMIN_PORT: '9464',
    PI_METRICS_TOKEN: 'CANARY-of-the-metrics',
    PI_RECEIPTS: 'http',
    PI_RECEIPTS_URL: 'https://CANARY:CANARY@receipts.example/CANARY',
  })
  const description = describeConfig(config)
  expect(JSON.stringify(description)).not.toContain('CANARY')
  expect(JSON.stringify(description)).not.toContain(key)
  expect(description).toMatchObject({
    listen: '127.0.0.1:4747',
    database: 'postgres://db.example:5432/payments',
    masterKey: 'set',
    processorSecrets: '1 set',
    chains: [
      {
        chainId: 1,
        rpc: ['https://rpc.example:8443', 'wss://second.example'],
        heads: 1,
        spokePools: 1,
        tokens: 2,
        priceFeeds: 1,
        proof: 'default',
        rawReceipts: 'on',
        maxRange: 'default',
        callPrice: 'none',
      },
    ],
    roles: ['api', 'dispatcher', 'poller', 'indexer:1'],
    admin: '127.0.0.1:9464',
    metrics: 'on the admin port with a token',
    reference: 'off',
    deliveryStream: 'off',
    receipts: 'http from https://receipts.example',
    maxExtraFeeBps: 100,
    recording: 'all',
  })
})
