/** The measured server as a separate process: the product, started like `serve`. @module */
import { readConfig, startServer } from '@payment-integration/server/service'
import { answer } from '../processes.js'

const server = await startServer(readConfig(process.env), { ownsProcess: true })
const calls = {
  url: () => server.url,
  /** CPU time since the start, in microseconds. */
  cpuUs() {
    const { user, system } = process.cpuUsage()
    return user + system
  },
}
export type ServerCalls = typeof calls
answer(calls, () => server.stop())
