import { knownRouters } from '@payment-integration/chain-evm'
import { startHost } from './host.js'

const { MASTER_KEY: masterKey, RPC_URL: rpcUrl, CHAIN_ID, PORT = '3000', DATABASE = 'payments.db' } = process.env
const chainId = Number(CHAIN_ID)
if (!masterKey || !rpcUrl || !Number.isSafeInteger(chainId)) {
  console.error('Set MASTER_KEY (32 random bytes as hex: openssl rand -hex 32), RPC_URL and CHAIN_ID.')
  process.exit(2)
}

const host = await startHost({
  databasePath: DATABASE,
  masterKey,
  chainId,
  rpcUrl,
  routers: knownRouters(chainId),
  port: Number(PORT),
  onEvent: (event) => console.log(JSON.stringify(event)),
})
console.log(`The host listens on ${host.url}, the payment API on ${host.url}/payments-service`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void host.stop())
