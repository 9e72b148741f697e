/** Puts a hostile receiver on a real socket. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTls, type TlsOptions } from 'node:tls'
import type { HostileReceiver } from './hostile-receivers.js'

export interface Listening {
  readonly port: number
  /** Connections that were accepted. */
  connections(): number
  /** How many of them are open. */
  open(): number
  /** The last kilobytes received, one character per byte. */
  received(): string
  stop(): Promise<void>
}

/** Listens on 127.0.0.1, over TLS when its options are given. Keeps only the last bytes received. */
export async function listen(
  { onConnect, onRequest }: Pick<HostileReceiver, 'onConnect' | 'onRequest'>,
  tls?: TlsOptions,
): Promise<Listening> {
  const sockets = new Set<Socket>()
  let connections = 0
  let received = ''
  const serve = (socket: Socket) => {
    socket.on('error', () => undefined)
    let requests = 0
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      received = (received + text).slice(-4_096)
      if (text.startsWith('POST ')) onRequest?.(socket, ++requests)
    })
    onConnect?.(socket)
  }
  const server: Server = tls === undefined ? createServer(serve) : createTls(tls, serve)
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    open: () => sockets.size,
    received: () => received,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
