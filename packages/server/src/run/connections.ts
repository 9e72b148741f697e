/** Which connections of a server have a request in progress. @module */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The open connections of a server. */
export interface Connections {
  /**
   * Closes every connection without a request in progress: kept alive between two requests, silent since it was made,
   * or in the middle of the headers of a request. Node's own `closeIdleConnections` knows the first kind alone.
   */
  closeIdle(): void
  /** Whether the oldest request in progress has no answer yet. Its body may still be arriving. */
  awaitsAnswer(socket: Socket): boolean
  /**
   * Calls `then` once every request that came in whole on the connection is answered: at once when none waits for that.
   */
  afterAnswers(socket: Socket, then: () => void): void
  /** Whether an answer has begun to a request whose body has not come in whole. */
  answersTooSoon(socket: Socket): boolean
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
}

interface Connection {
  /** Requests whose answers are not out. */
  readonly owed: Set<Exchange>
  last: Exchange | null
  onAnswer: () => void
}

/** Follows the connections of a server from now on; call it before the server listens. */
export function trackConnections(server: Server): Connections {
  const open = new Map<Socket, Connection>()
  server.on('connection', (socket: Socket) => {
    open.set(socket, { owed: new Set(), last: null, onAnswer: () => undefined })
    socket.once('close', () => open.delete(socket))
  })
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(incoming.socket)
    if (connection === undefined) return
    const exchange = { incoming, response }
    connection.owed.add(exchange)
    connection.last = exchange
    response.once('close', () => {
      connection.owed.delete(exchange)
      connection.onAnswer()
    })
  })
  return {
    closeIdle() {
      for (const [socket, { owed }] of open) if (owed.size === 0) socket.destroy()
    },
    awaitsAnswer(socket) {
      const [oldest] = open.get(socket)?.owed ?? []
      return oldest !== undefined && !oldest.response.headersSent
    },
    afterAnswers(socket, then) {
      const connection = open.get(socket)
      const isAnswered = () => ![...(connection?.owed ?? [])].some(({ incoming }) => incoming.complete)
      if (connection === undefined || isAnswered()) return then()
      connection.onAnswer = () => {
        if (!isAnswered()) return
        connection.onAnswer = () => undefined
        then()
      }
    },
    answersTooSoon(socket) {
      const last = open.get(socket)?.last ?? null
      return last !== null && !last.incoming.complete && last.response.headersSent
    },
  }
}
