import { knownRouters } from '@payment-integration/chain-evm'
import { startHost } from './host.js'

const { DATABASE_URL: databaseUrl, MASTER_KEY: masterKey, RPC_URL: rpcUrl, CHAIN_ID, PORT = '3000' } = process.env
const { SUMSUB_APP_TOKEN: appToken, SUMSUB_SECRET_KEY: secretKey, SUMSUB_LEVEL: levelName } = process.env
const { SUMSUB_WEBHOOK_SECRET: webhookSecret } = process.env
const chainId = Number(CHAIN_ID)
if (!databaseUrl || !masterKey || !rpcUrl || !Number.isSafeInteger(chainId)) {
  console.error('Set DATABASE_URL, MASTER_KEY (32 random bytes as hex: openssl rand -hex 32), RPC_URL and CHAIN_ID.')
  process.exit(2)
}

const routers = knownRouters(chainId)
/** Identity verifications are shared once all four variables are set. */
const identity =
  appToken && secretKey && levelName && webhookSecret ? { appToken, secretKey, levelName, webhookSecret } : undefined
const host = await startHost({ databaseUrl, masterKey, chainId, rpcUrl, routers, port: Number(PORT), identity })
console.log(`The host listens on ${host.url}, the payment API on ${host.url}/payments-service`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void host.stop())
