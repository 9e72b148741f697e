/** How many connections one source may hold. Source: docs/decisions/rate-limits.md. @module */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { SourceReader } from '../limits/source.js'

/** The limit, and how sources are told apart. */
export interface ConnectionLimit {
  readonly mostPerSource: number
  readonly sources: Pick<SourceReader, 'sourceOfConnection'>
}

/**
 * Closes a connection at once when its source has as many as it may; those of trusted proxies count for nobody. Call it
 * before the server listens. What is remembered is bounded by the connections that are open.
 */
export function limitConnections(server: Server, { mostPerSource, sources }: ConnectionLimit): void {
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const source = sources.sourceOfConnection(socket.remoteAddress)
    if (source === null) return
    const count = open.get(source) ?? 0
    if (count >= mostPerSource) return void socket.destroy()
    open.set(source, count + 1)
    socket.once('close', () => {
      const left = (open.get(source) ?? 1) - 1
      if (left === 0) open.delete(source)
      else open.set(source, left)
    })
  })
}
