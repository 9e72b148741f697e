/** A TCP server that counts its connections and handles each as scripted. */

import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

export interface TcpServer {
  readonly port: number
  readonly url: string
  /** How many connections were accepted. */
  connections(): number
  /** How many of them are open. */
  open(): number
  /** Everything that clients sent. */
  received(): string
  stop(): Promise<void>
}

export async function startTcp(
  onRequest: (socket: Socket, request: number) => void = () => undefined,
  host = '127.0.0.1',
): Promise<TcpServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  let requests = 0
  let received = ''
  const server = createServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (/^(POST|GET) /.test(chunk.toString('latin1'))) onRequest(socket, ++requests)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    connections: () => connections,
    open: () => sockets.size,
    received: () => received,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Resolves once `holds` is true; rejects after `deadlineMs`. */
export async function eventually(holds: () => boolean | Promise<boolean>, deadlineMs = 300_000): Promise<void> {
  const end = Date.now() + deadlineMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`Not true within ${deadlineMs} ms: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
