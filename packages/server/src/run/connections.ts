/** Limits connections of one source, and tracks their requests. Source: docs/decisions/rate-limits.md. @module */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { SourceReader } from '../limits/request-limits.js'

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
