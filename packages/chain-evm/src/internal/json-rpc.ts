/** JSON-RPC calls to one node, over viem transports. @module */
import { http, type Transport } from 'viem'
import { DeadlineError, withDeadline } from './deadline.js'
import { describeFailure, describeRpcError, type Failures, HttpStatusError, redactor, rpcErrorOf } from './failures.js'

/** One call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a call came to: its result, or the JSON-RPC error that the node answered. */
export type RpcOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number | null; readonly message: string }

/** Calls to one node. Every rejection is a ChainError, or the caller's own reason when its signal aborted. */
export interface Rpc {
  /** One call, in a request of its own. */
  call(call: RpcCall, signal?: AbortSignal): Promise<unknown>
  /** One call whose JSON-RPC error is an answer too. */
  ask(call: RpcCall, signal?: AbortSignal): Promise<RpcOutcome>
  /**
   * Many calls, in order, in as few requests as the batch size allows. A node may leave out or mix up the items of a
   * batch, so the caller must check that each result is the one it asked for.
   */
  all(calls: readonly RpcCall[], signal?: AbortSignal): Promise<unknown[]>
  /** As {@link Rpc.all}, with JSON-RPC errors as answers. */
  askAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcOutcome[]>
}

/** How to reach the node. */
export interface RpcOptions {
  readonly rpcUrl: string | undefined
  readonly transport: Transport | undefined
  readonly requestTimeoutMs: number
  readonly batchSize: number
  readonly maxResponseBytes: number
  /** Told of every request that brought no answer at all. */
  readonly onLost: () => void
}

type Request = (call: RpcCall, options: { signal: AbortSignal; retryCount: 0 }) => Promise<unknown>

/** Opens the calls. Nothing is sent yet. */
export function createRpc(fail: Failures, options: RpcOptions): Rpc {
  const { requestTimeoutMs, batchSize, onLost } = options
  const { single, batched, url } = openTransports(options)
  const redact = redactor(url)

  async function settle(request: Request, calls: readonly RpcCall[], caller?: AbortSignal): Promise<RpcOutcome[]> {
    const what = [...new Set(calls.map((call) => call.method))].join(', ')
    const settled = await withDeadline(requestTimeoutMs, caller, (signal) =>
      Promise.allSettled(calls.map((call) => request(call, { signal, retryCount: 0 }))),
    ).catch((error: unknown) => {
      if (caller?.aborted) throw caller.reason
      onLost()
      throw fail.unavailable(`${what}: ${error instanceof DeadlineError ? error.message : 'the request failed'}.`)
    })
    caller?.throwIfAborted()
    return settled.map((outcome, index) => {
      if (outcome.status === 'fulfilled') return { ok: true, result: outcome.value }
      const answered = rpcErrorOf(outcome.reason)
      if (answered !== null) return { ok: false, code: answered.code, message: redact(answered.message) }
      onLost()
      throw fail.unavailable(`${calls[index]?.method}: ${describeFailure(outcome.reason, redact)}.`)
    })
  }

  async function askAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcOutcome[]> {
    const outcomes: RpcOutcome[] = []
    for (let start = 0; start < calls.length; start += batchSize)
      outcomes.push(...(await settle(batched, calls.slice(start, start + batchSize), signal)))
    return outcomes
  }

  function resultOf(call: RpcCall | undefined, outcome: RpcOutcome | undefined): unknown {
    if (outcome?.ok) return outcome.result
    throw fail.unavailable(`${call?.method}: ${describeRpcError(outcome)}.`)
  }

  async function ask(call: RpcCall, signal?: AbortSignal): Promise<RpcOutcome> {
    const [outcome] = await settle(single, [call], signal)
    if (outcome === undefined) throw fail.unavailable(`${call.method}: no answer.`)
    return outcome
  }

  return {
    ask,
    askAll,
    call: async (call, signal) => resultOf(call, await ask(call, signal)),
    all: async (calls, signal) =>
      (await askAll(calls, signal)).map((outcome, index) => resultOf(calls[index], outcome)),
  }
}

function openTransports(options: RpcOptions): { single: Request; batched: Request; url: string | undefined } {
  const { transport, rpcUrl, batchSize, maxResponseBytes } = options
  // The deadline here covers the body as well; viem's covers only the time until the headers, so it is off.
  const base = { retryCount: 0, timeout: 0, maxResponseBodySize: maxResponseBytes }
  const single = (transport ?? http(rpcUrl, base))({ retryCount: 0 })
  const batch = { batch: { batchSize }, onFetchResponse: assertAccepted }
  const batched =
    transport === undefined && batchSize > 1 ? http(rpcUrl, { ...base, ...batch })({ retryCount: 0 }) : single
  const url: unknown = single.value?.['url'] ?? rpcUrl
  return {
    single: single.request as Request,
    batched: batched.request as Request,
    url: typeof url === 'string' ? url : undefined,
  }
}

/** A refused batch has one error for all its items, which viem would look for item by item and lose. */
function assertAccepted(response: Response): void {
  if (!response.ok) throw new HttpStatusError(response.status)
}
