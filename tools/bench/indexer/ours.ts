/** The measured indexer as a separate process: the service opened like `serve`, but only the indexer runs. @module */
import { openService, readConfig } from '@payment-integration/server/service'
import { peakKiB } from './peak.js'

const goal = Number(process.env['TO'])
const caughtUp = new AbortController()
const { service, close } = await openService(readConfig(process.env), {
  ownsProcess: true,
  onEvent: (event) => {
    if (event.type === 'chain.indexed' && event.blockNumber >= goal) caughtUp.abort()
  },
})
await Promise.all(service.indexers.map((indexer) => indexer.run(caughtUp.signal)))
await close()
process.send?.({ peakKiB: peakKiB() }, undefined, undefined, () => process.exit())
