/** Bounds concurrent and total requests of one connection. @module */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestListener } from './request-listener.js'

interface Line {
  count: number
  busy: number
  readonly waiting: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }[]
}

/**
 * Queues the requests of a connection. Node emits a whole pipeline at once, and buffers each answer until the previous
 * one is sent. Without a bound, a client that reads nothing fills the memory. The answer to the last request closes the
 * connection, and later requests get no answer. Node's own limit would answer them without Cache-Control.
 */
export function takeTurns(
  listener: RequestListener,
  { maxAtOnce, maxRequests }: { readonly maxAtOnce: number; readonly maxRequests: number },
): RequestListener {
  const lines = new WeakMap<Socket, Line>()

  function start(line: Line, incoming: IncomingMessage, outgoing: ServerResponse): void {
    line.busy++
    // The client is gone.
    if (!incoming.socket.destroyed) listener(incoming, outgoing)
  }

  function lineOf(socket: Socket): Line {
    const known = lines.get(socket)
    if (known !== undefined) return known
    const line: Line = { count: 0, busy: 0, waiting: [] }
    lines.set(socket, line)
    return line
  }

  return (incoming, outgoing) => {
    const line = lineOf(incoming.socket)
    line.count++
    if (line.count > maxRequests) return
    if (line.count === maxRequests) outgoing.setHeader('Connection', 'close')
    outgoing.once('close', () => {
      line.busy--
      const next = line.waiting.shift()
      if (next !== undefined) start(line, next.incoming, next.outgoing)
    })
    if (line.busy < maxAtOnce) start(line, incoming, outgoing)
    else line.waiting.push({ incoming, outgoing })
  }
}
