/** The process that chaos kills: the service on SQLite, real HTTP and default options, on a fast clock. @module */
import { createEvmChain } from '@payment-integration/chain-evm'
import { createService, silentLogger } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import { createUndiciSender } from '@payment-integration/server'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { simulatedMasterKey } from '../world/master-key.js'
import { fastClock } from './fast-clock.js'
import type { ProcessConfig } from './process-config.js'

const config = JSON.parse(process.argv[2] ?? '{}') as ProcessConfig
const { chainId, urls, routers, databasePath, startBlock, finalityBlocks, nearHead, time } = config
const clock = fastClock(time)
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
// The parent has the other end of the pipe: without it this process exits.
process.stdin.resume().once('end', () => process.exit(1))

const chain = createEvmChain({ chainId, endpoints: urls.map((url) => ({ url })), routers, nearHead, clock })
const sender = createUndiciSender({ allowLoopbackHttp: true })
const store = createSqliteStore({ path: databasePath, clock })
/** The operator's log: a stopped chain repeatedly logs an error with the command that repairs it. */
const logger: Logger = {
  ...silentLogger,
  error: ({ error }) => void process.stdout.write(`${JSON.stringify({ type: 'error', message: error })}\n`),
}
const service = createService({
  store,
  logger,
  sender,
  masterKey: simulatedMasterKey,
  chains: [{ chain, startBlock }],
  confirmations: { [chainId]: finalityBlocks },
  allowLoopbackHttp: true,
  clock,
  onEvent(event) {
    if (event.type === 'chain.failed' || event.type === 'chain.reorganised')
      process.stdout.write(`${JSON.stringify(event)}\n`)
  },
})
process.on('SIGUSR2', () => {
  const [status] = service.indexers.map((indexer) => indexer.status())
  process.stdout.write(`${JSON.stringify({ type: 'status', status })}\n`)
})
await service.run(stop.signal)
chain.close()
await sender.close()
await store.close()
process.exit(0)
