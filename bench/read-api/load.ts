/** Sends requests as fast as they are answered. @module */
import autocannon from 'autocannon'
import type { ServerProcess } from './server-process.js'

/** What to send, over and over. */
export interface Load {
  readonly paths: readonly string[]
  readonly authorization: string
}

/** What a burst came to. */
export interface Burst {
  readonly requestsPerSecond: number
  /** CPU time of the server for one request, in microseconds. */
  readonly cpuUsPerRequest: number
}

/** Open connections, each with one request at a time: more than enough to keep one core busy. */
const connections = 16

/** Sends for `seconds`, or `amount` requests. Rejects unless every answer is a 200. */
export async function burst(
  server: ServerProcess,
  { paths, authorization }: Load,
  effort: { readonly seconds: number } | { readonly amount: number },
): Promise<Burst> {
  const before = await server.cpuUs()
  const result = await autocannon({
    url: server.url,
    connections,
    ...('seconds' in effort ? { duration: effort.seconds } : { amount: effort.amount }),
    requests: paths.map((path) => ({ method: 'GET', path, headers: { authorization } })),
  })
  const after = await server.cpuUs()
  const answered = result['2xx']
  if (answered === 0 || result.non2xx > 0 || result.errors > 0)
    throw new Error(`${paths[0]}: ${answered} answers were 2xx, ${result.non2xx} were not, ${result.errors} failed.`)
  return {
    requestsPerSecond: answered / result.duration,
    cpuUsPerRequest: (after - before) / answered,
  }
}
