/** Sends raw requests that a client library does not send. */
import { connect } from 'node:net'

/** Sends bytes and resolves everything received until the server closed, or for five minutes. */
export function sendRaw(url: string, bytes: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let received = ''
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes))
    const timer = setTimeout(() => socket.destroy(), 300_000)
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(received)
    })
  })
}

/** A request as text; `Connection: close` is added so that the answer ends. */
export function requestText(target: string, headers: readonly string[] = [], { method = 'GET', body = '' } = {}) {
  return [`${method} ${target} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', body].join('\r\n')
}

/** Status, headers (lowercased names) and body of a raw answer. */
export function parseRaw(answer: string): { status: number; headers: Map<string, string>; body: string } {
  const end = answer.indexOf('\r\n\r\n')
  const [line = '', ...rest] = answer.slice(0, end).split('\r\n')
  const fields = rest.map((each) => each.split(/:(.*)/s))
  const headers = new Map(fields.map(([name = '', value = '']) => [name.toLowerCase(), value.trim()]))
  return { status: Number(line.split(' ')[1]), headers, body: answer.slice(end + 4) }
}
