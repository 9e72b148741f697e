/** A framework under test, and requests to it. @module */
import { once } from 'node:events'
import { Agent, type IncomingMessage, request as openRequest, type RequestOptions, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { HandlerOptions } from '../../src/adapters/handler-options.js'

/** A request as the tests write it. */
export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array
}

/** A response. */
export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** A running receiver. */
export interface Host {
  /** Sends to the receiver's route. */
  send(sent: Sent): Promise<Got>
  /** Where it listens; absent where there is no socket. */
  readonly port?: number
  close(): Promise<void>
}

/** An adapter in its framework. */
export interface Subject {
  readonly name: string
  /** Serves at /webhook, set up as the README says. With `parser`, mounts it wrongly below the JSON parser. */
  start(options: HandlerOptions, parser: boolean): Promise<Host>
  /** Whole requests arrive: there is nothing to say about sockets. */
  readonly hasNoSocket?: true
  /** The line that the framework's user is told when the parser was there first. */
  readonly cure: RegExp
  /** Cases that this set-up cannot pass, with the reason. They run all the same, and must fail. */
  readonly excuses?: Readonly<Record<string, string>>
}

/** The address of the route. */
export function getRoute(port: number): RequestOptions {
  return { host: '127.0.0.1', port, path: '/webhook', method: 'POST' }
}

/** A host on a listening server. */
export async function createHost(server: Server, close: () => unknown = () => undefined): Promise<Host> {
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  const { port } = server.address() as AddressInfo
  return {
    port,
    send: (sent) => sendOver(new Agent(), port, sent),
    async close() {
      server.closeAllConnections()
      await close()
      if (server.listening) await new Promise((closed) => server.close(closed))
    },
  }
}

/** Sends a request with an agent of the caller's choice. */
export async function sendOver(agent: Agent, port: number, sent: Sent): Promise<Got> {
  const { method = 'POST', headers = {}, body } = sent
  const request = openRequest({ ...getRoute(port), agent, method })
  for (const [name, value] of Object.entries(headers)) request.setHeader(name, value)
  request.end(body)
  return await answered(request)
}

/** The answer to a request. */
export async function answered(request: ReturnType<typeof openRequest>): Promise<Got> {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
}
