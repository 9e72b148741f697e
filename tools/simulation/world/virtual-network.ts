/**
 * The network of a simulated process: `http.request` answers from memory, after virtual time, with the bytes of a real
 * socket. The product's own HTTP code runs; only the operating system is left out.
 *
 * @module
 */
import { EventEmitter } from 'node:events'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'
import type { Reply } from '../node/calls.js'

/** Answers a request to a host. It resolves the reply; a hang never resolves. */
export type Route = (host: string, body: string) => Promise<Reply>

/** The part of `http.request` that requests of JSON-RPC use. */
interface RequestOptions {
  readonly signal?: AbortSignal | undefined
}

class VirtualRequest extends EventEmitter {
  readonly reusedSocket: boolean
  readonly #host: string
  readonly #connected: Set<string>
  readonly #route: Route
  #ended = false

  /** @param connected - Hosts with an open connection. */
  constructor(host: string, route: Route, connected: Set<string>, { signal }: RequestOptions) {
    super()
    this.reusedSocket = connected.has(host)
    this.#host = host
    this.#connected = connected
    this.#route = route
    const abort = () => this.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
    if (signal?.aborted) queueMicrotask(abort)
    else signal?.addEventListener('abort', abort, { once: true })
  }

  end(body: Uint8Array | string): this {
    const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
    this.#route(this.#host, text).then(
      (reply) => this.#arrive(reply),
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    )
    return this
  }

  destroy(error?: Error): this {
    if (this.#ended) return this
    this.#ended = true
    if (error !== undefined) this.emit('error', error)
    return this
  }

  setTimeout(): this {
    return this
  }

  #arrive(reply: Reply): void {
    if (this.#ended || reply.kind === 'hang') return
    if (reply.kind === 'reset') {
      this.#connected.delete(this.#host)
      this.destroy(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
      return
    }
    this.#ended = true
    this.#connected.add(this.#host)
    const { status, headers, body } = reply
    const response = Readable.from(body === '' ? [] : [Buffer.from(body)], { objectMode: false })
    this.emit('response', Object.assign(response, { statusCode: status, headers: { ...headers } }))
  }
}

/** Replaces the network. @returns A function that restores the real network. */
export function installVirtualNetwork(route: Route): () => void {
  const real = http.request
  const connected = new Set<string>()
  const request = (url: URL | string, options: RequestOptions) =>
    new VirtualRequest(new URL(url).host, route, connected, options)
  Object.assign(http, { request })
  syncBuiltinESMExports()
  return () => {
    Object.assign(http, { request: real })
    syncBuiltinESMExports()
  }
}
