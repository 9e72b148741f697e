/** Sends requests as fast as the server answers. @module */
import { Client } from 'undici'
import type { ServerProcess } from './server-process.js'

/** The request to repeat. */
export interface Load {
  readonly paths: readonly string[]
  /** @default none */
  readonly authorization?: string
  /** @default GET */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT'
  /** @default none */
  readonly headers?: Readonly<Record<string, string>>
  /** @default none */
  readonly body?: Buffer
  /** Expected statuses. @default 200 alone */
  readonly statuses?: readonly number[]
}

/** Result of a burst. */
export interface Burst {
  readonly requestsPerSecond: number
  /** CPU time of the server for one request, in microseconds. */
  readonly cpuUsPerRequest: number
}

/** Open connections, each with one request at a time: more than enough to keep one core busy. */
export const connections = 16

/** Sends `amount` requests. Rejects unless every answer has an expected status. */
export async function burst(server: ServerProcess, load: Load, amount: number): Promise<Burst> {
  const { paths, authorization, method = 'GET', body: sentBody = null, statuses = [200] } = load
  const clients = Array.from({ length: connections }, () => new Client(server.url))
  const headers = { ...load.headers, ...(authorization === undefined ? {} : { authorization }) }
  let sent = 0
  async function sendAll(client: Client): Promise<void> {
    while (sent < amount) {
      const path = paths[sent % paths.length] ?? ''
      sent += 1
      const { statusCode, body } = await client.request({ method, path, headers, body: sentBody })
      await body.arrayBuffer()
      if (!statuses.includes(statusCode)) throw new Error(`${path}: the answer was ${statusCode}.`)
    }
  }
  const before = await server.cpuUs()
  const startedAt = performance.now()
  await Promise.all(clients.map(sendAll))
  const seconds = (performance.now() - startedAt) / 1_000
  const after = await server.cpuUs()
  await Promise.all(clients.map((client) => client.close()))
  return { requestsPerSecond: amount / seconds, cpuUsPerRequest: (after - before) / amount }
}
