/** Which connections of a server have a request in progress. @module */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The open connections of a server. */
export interface Connections {
  /**
   * Closes every connection without a request in progress: kept alive between two requests, silent since it was made, or
   * in the middle of the headers of a request. Node's own `closeIdleConnections` knows the first kind alone.
   */
  closeIdle(): void
}

/** Follows the connections of a server from now on; call it before the server listens. */
export function trackConnections(server: Server): Connections {
  /** How many answers each open connection owes. */
  const owed = new Map<Socket, number>()
  const add = (socket: Socket, change: number) => {
    const answers = owed.get(socket)
    if (answers !== undefined) owed.set(socket, answers + change)
  }
  server.on('connection', (socket: Socket) => {
    owed.set(socket, 0)
    socket.once('close', () => owed.delete(socket))
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    add(socket, 1)
    response.once('close', () => add(socket, -1))
  })
  return {
    closeIdle() {
      for (const [socket, answers] of owed) if (answers === 0) socket.destroy()
    },
  }
}
