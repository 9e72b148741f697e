/** Tracks which connections have a request in progress. @module */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The open connections of a server. */
export interface Connections {
  /**
   * Closes every connection without a request in progress: idle between requests, silent since its start, or in the
   * middle of request headers. Node's `closeIdleConnections` closes only the first kind.
   */
  closeIdle(): void
  /** Whether the oldest request in progress is unanswered. Its body may still be arriving. */
  awaitsAnswer(socket: Socket): boolean
  /** Calls `then` once every complete request on the connection is answered; at once when none is waiting. */
  afterAnswers(socket: Socket, then: () => void): void
  /** Whether an answer has begun before its request's body is complete. */
  answersTooSoon(socket: Socket): boolean
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
}

interface Connection {
  /** Requests without a finished answer. */
  readonly owed: Set<Exchange>
  last: Exchange | null
  onAnswer: () => void
}

/** Tracks the connections of a server. Call it before the server listens. */
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
