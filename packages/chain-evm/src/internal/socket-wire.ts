/** JSON-RPC over one WebSocket that is made again when it breaks. @module */
import type { Clock } from '@payment-integration/core/ports'
import { DeadlineError } from './deadline.js'
import { NoConnectionError, StaleConnectionError } from './failures.js'
import { createReconnect } from './reconnect.js'
import { openSocket, type Socket } from './socket.js'
import type { Wire } from './wire.js'

/** How to reach the node. */
export interface SocketWireOptions {
  /** `ws:` or `wss:`. */
  readonly url: string
  readonly maxResponseBytes: number
  readonly clock: Clock
}

/**
 * Opens a way to a node, and connects with the first request. Between failed connections it waits, longer each time,
 * and refuses requests meanwhile. A connection that is silent while a request times out is closed.
 */
export function socketWire({ url, maxResponseBytes, clock }: SocketWireOptions): Wire {
  const reconnect = createReconnect(clock)
  let closed = false
  let current: Connection | null = null
  /** A connection that was made has ended, and the next request is to hear of it. */
  let isStale = false
  let received = 0

  const onBytes = (bytes: number) => {
    received += bytes
  }

  function forget(connection: Connection): void {
    if (current === connection) current = null
    reconnect.failed()
  }

  function connect(): Connection {
    if (closed || reconnect.waitMs() > 0) throw new NoConnectionError()
    const giveUp = new AbortController()
    const opened = openSocket({ url, maxResponseBytes, onBytes }, giveUp.signal)
    const connection = { opened, giveUp }
    const ended = () => forget(connection)
    opened
      .then(async (socket) => {
        await socket.ended
        isStale = true
      })
      .then(ended, ended)
    return connection
  }

  return {
    async send(calls, signal) {
      if (isStale && !closed) {
        isStale = false
        throw new StaleConnectionError()
      }
      current ??= connect()
      const { opened, giveUp } = current
      let socket: Socket | undefined
      let heard = 0
      const abandon = () => {
        if (!(signal.reason instanceof DeadlineError)) return
        if (socket === undefined) giveUp.abort(signal.reason)
        else if (socket.messages() === heard) socket.close()
      }
      signal.addEventListener('abort', abandon, { once: true })
      try {
        socket = await opened
        signal.throwIfAborted()
        heard = socket.messages()
        const outcomes = await socket.send(calls, signal)
        reconnect.worked()
        return outcomes
      } finally {
        signal.removeEventListener('abort', abandon)
      }
    },
    received: () => received,
    close() {
      closed = true
      current?.giveUp.abort(new NoConnectionError())
      current?.opened.then((socket) => socket.close()).catch(() => {})
    },
  }
}

interface Connection {
  readonly opened: Promise<Socket>
  readonly giveUp: AbortController
}
