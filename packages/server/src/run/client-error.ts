/** Answers bytes that are no valid request. Source: docs/interface.md 4 (Cache-Control), 7. @module */
import type { Socket } from 'node:net'
import { cacheControl } from '@payment-integration/contract'
import { requestIdHeader, requestIdOf } from '../app/request-id.js'
import type { Connections } from './connections.js'

const answers: Readonly<Record<string, { readonly line: string; readonly error: string }>> = {
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', error: 'Request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', error: 'Request took too long' },
}
const malformed = { line: '400 Bad Request', error: 'Request is malformed' }

/**
 * A listener for `clientError` that answers and closes: 431, 408, else 400. Complete requests before the flaw are
 * answered first, so that the error is never taken for one of their answers. Bytes after a request that closes the
 * connection are ignored.
 */
export function createClientErrorListener(
  connections: Connections,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  const refused = new WeakSet<Socket>()
  return (error, socket) => {
    if (error.code === 'ECONNRESET') return void socket.destroy()
    // Each further chunk of a broken stream raises another error.
    if (refused.has(socket)) return
    refused.add(socket)
    connections.afterAnswers(socket, () => {
      if (!socket.writable || error.code === 'HPE_CLOSED_CONNECTION' || connections.answersTooSoon(socket))
        socket.destroySoon()
      else refuse(socket, answers[error.code ?? ''] ?? malformed)
    })
  }
}

function refuse(socket: Socket, { line, error }: typeof malformed): void {
  const body = JSON.stringify({ error })
  const head = [
    `HTTP/1.1 ${line}`,
    `Cache-Control: ${cacheControl}`,
    `${requestIdHeader}: ${requestIdOf(null)}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
