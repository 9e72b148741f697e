/** A TCP server that counts its connections and handles each as scripted. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTls, type TlsOptions } from 'node:tls'
import { onTestFinished } from 'vitest'

export type TcpServer = Awaited<ReturnType<typeof startTcp>>

/** A server's behavior beside its answers to requests. */
export interface TcpOptions {
  /** Called for each connection, before it sent anything. */
  readonly onConnect?: ((socket: Socket) => void) | undefined
  /** @default no TLS */
  readonly tls?: TlsOptions | undefined
}

/**
 * Listens on 127.0.0.1.
 * @param onRequest - Called when a request's head arrived, with the number of the connection's requests.
 */
export async function startTcp(
  onRequest: (socket: Socket, request: number) => void = () => undefined,
  { onConnect, tls }: TcpOptions = {},
) {
  const sockets = new Set<Socket>()
  let connections = 0
  let received = ''
  const serve = (socket: Socket) => {
    socket.on('error', () => undefined)
    let requests = 0
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      received = (received + text).slice(-8_192)
      if (/^(POST|GET) /.test(text)) onRequest(socket, ++requests)
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
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    /** How many connections were accepted. */
    connections: () => connections,
    /** How many of them are open. */
    open: () => sockets.size,
    /** The last kilobytes that clients sent, one character per byte. */
    received: () => received,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Starts a server like `startTcp`, and stops it at the end of the test. */
export async function startTempTcp(...args: Parameters<typeof startTcp>): Promise<TcpServer> {
  const server = await startTcp(...args)
  onTestFinished(server.stop)
  return server
}

/** Resolves once `holds` is true; rejects after `deadlineMs`. */
export async function eventually(holds: () => boolean | Promise<boolean>, deadlineMs = 300_000): Promise<void> {
  const end = Date.now() + deadlineMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`Not true within ${deadlineMs} ms: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
