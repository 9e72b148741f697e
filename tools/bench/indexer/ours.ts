/** The measured indexer as a separate process: the service opened like `serve`, but only the indexer runs. @module */
import { readFileSync } from 'node:fs'
import { openService, readConfig } from '@payment-integration/server/service'
import { answer } from '../processes.js'

const ours = {
  /** Indexes to a height. */
  async catchUp(height: number) {
    const caughtUp = new AbortController()
    const { service, close } = await openService(readConfig(process.env), {
      ownsProcess: true,
      onEvent: (event) => {
        if (event.type === 'chain.indexed' && event.blockNumber >= height) caughtUp.abort()
      },
    })
    await Promise.all(service.indexers.map((indexer) => indexer.run(caughtUp.signal)))
    await close()
    return { peakMiB: readPeakMiB() }
  },
}
export type Ours = typeof ours
answer(ours)

/** The peak memory of this process. On Linux `maxRSS` is wrong: it begins with the peak of the parent process. */
function readPeakMiB(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1_024
  const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(peak) / 1_024
}
