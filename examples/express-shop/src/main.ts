import { createClient } from '@payment-integration/client'
import pg from 'pg'
import { startShop } from './shop.js'

const {
  DATABASE_URL,
  PAYMENTS_URL,
  INTEGRATION_ADDRESS,
  RECEIVER_ADDRESS,
  API_SECRET,
  WEBHOOK_SIGNING_SECRETS,
  PORT = '3000',
} = process.env
if (
  !DATABASE_URL ||
  !PAYMENTS_URL ||
  !INTEGRATION_ADDRESS ||
  !RECEIVER_ADDRESS ||
  !API_SECRET ||
  !WEBHOOK_SIGNING_SECRETS
) {
  console.error(
    'Set DATABASE_URL, PAYMENTS_URL, INTEGRATION_ADDRESS, RECEIVER_ADDRESS, API_SECRET and WEBHOOK_SIGNING_SECRETS.',
  )
  process.exit(2)
}

if (!/^0x[0-9a-f]{40}$/i.test(RECEIVER_ADDRESS)) {
  console.error('RECEIVER_ADDRESS is no address: pass 0x and 40 hex digits, where payments to the shop go.')
  process.exit(2)
}

const pool = new pg.Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 3000 })
// The next use replaces a broken idle connection. Without a listener its error would end the process.
pool.on('error', (error) => console.error(error.message))
const shop = await startShop({
  pool,
  client: createClient({ baseUrl: PAYMENTS_URL, integrationAddress: INTEGRATION_ADDRESS, apiSecret: API_SECRET }),
  receiver: RECEIVER_ADDRESS,
  secrets: WEBHOOK_SIGNING_SECRETS.split(','),
  port: Number(PORT),
  report: (line) => console.error(line),
})
console.log(`The shop listens on ${shop.url}; notifications go to ${shop.url}/webhook`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void shop.stop().then(() => pool.end()))
