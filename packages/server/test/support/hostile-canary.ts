/** Listeners on this machine that accept notifications and count connections. */
import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, type Server, Socket } from 'node:net'
import { selfSigned } from './self-signed.js'

export type Canary = Awaited<ReturnType<typeof startCanary>>

/** Starts an HTTPS and an HTTP listener on every address of this machine. */
export async function startCanary() {
  const pair = selfSigned('*.hook.example')
  let connections = 0
  const serve: RequestListener = (_, response) => void response.end('canary')
  const [https, http] = [createHttps(pair, serve), createHttp(serve)]
  const listen = async (server: Server) => {
    server.on('connection', () => connections++)
    await new Promise<void>((resolve) => server.listen(0, '::', resolve))
    return (server.address() as AddressInfo).port
  }
  const [httpsPort, httpPort] = [await listen(https), await listen(http)]
  return {
    /** PEM to trust, so that nothing but the address rule keeps a notification out. Names `*.hook.example`. */
    ca: pair.cert,
    ...{ httpsPort, httpPort },
    /** Connections that were accepted on either port, at any address of this machine. */
    connections: () => connections,
    async stop() {
      for (const server of [https, http]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }
}

/** Records every address that this process dials, and ends the dialling of any but this machine, until stopped. */
export function watchDialling(): { readonly dialled: string[]; stop(): void } {
  const dialled: string[] = []
  const { connect } = Socket.prototype
  Socket.prototype.connect = function (this: Socket, ...args: Parameters<typeof connect>) {
    this.on('connectionAttempt', (address: string) => dialled.push(address))
    this.on('connectionAttempt', (ip) => /^(127|::1)/.test(ip) || setImmediate(() => this.destroy(new Error('cut'))))
    return connect.apply(this, args)
  } as typeof connect
  return {
    dialled,
    stop() {
      Socket.prototype.connect = connect
    },
  }
}
