/** Limits the open connections of one source. Source: docs/decisions/rate-limits.md. @module */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { SourceReader } from '../limits/source.js'

/** The limit, and the function that finds a connection's source. */
export interface ConnectionLimit {
  readonly mostPerSource: number
  readonly sources: Pick<SourceReader, 'sourceOfConnection'>
}

/**
 * Closes a connection at once when its source has reached the limit. Connections of trusted proxies are not counted.
 * Call it before the server listens. Memory is bounded by the number of open connections.
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
