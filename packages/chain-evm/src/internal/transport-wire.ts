/** JSON-RPC over a viem transport that the caller brings. @module */
import { rpcErrorOf } from './failures.js'
import type { RpcCall, RpcOutcome, Wire } from './wire.js'

/**
 * A transport of viem, such as `http(url)`, by the parts that are used: the types of viem would be needed by everybody
 * who compiles against this package.
 */
export type Transport = (options: { readonly retryCount: number }) => {
  readonly request: (...args: never) => Promise<unknown>
  readonly value?: Readonly<Record<string, unknown>> | undefined
}

type Request = (call: RpcCall, options: { signal: AbortSignal; retryCount: 0 }) => Promise<unknown>

/** A way through `transport`: each call is a request of its own, several at once. Its connections are the caller's. */
export function transportWire(transport: Transport): Wire {
  const { request } = openTransport(transport)
  return {
    async send(calls, signal) {
      const settled = await Promise.allSettled(
        calls.map(({ method, params }) => request({ method, params }, { signal, retryCount: 0 })),
      )
      return settled.map((outcome): RpcOutcome => {
        if (outcome.status === 'fulfilled') return { ok: true, result: outcome.value }
        const answered = rpcErrorOf(outcome.reason)
        if (answered === null) throw outcome.reason
        return { ok: false, ...answered }
      })
    },
    received: () => 0,
    close() {},
  }
}

/** The URL of a transport that has one; its parts must stay secret. */
export function urlOfTransport(transport: Transport): string | undefined {
  const url: unknown = openTransport(transport).value?.['url']
  return typeof url === 'string' ? url : undefined
}

function openTransport(transport: Transport): ReturnType<Transport> & { request: Request } {
  return transport({ retryCount: 0 }) as ReturnType<Transport> & { request: Request }
}
