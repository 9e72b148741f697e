/** JSON-RPC calls to one node, over any wire. @module */
import type { Clock } from '@payment-integration/core/ports'
import type { Failures } from './failures.js'
import {
  createRedactor,
  describeRpcError,
  isRateLimit,
  RequestError,
  toRequestError,
  withDeadline,
} from './failures.js'
import { formatQuantity } from './hex.js'
import type { RpcCall, RpcOutcome, Wire } from './wire.js'

export type { RpcCall, RpcOutcome } from './wire.js'

/** Calls to one node. Methods reject with a ChainError, or with the reason of the caller's aborted signal. */
export interface Rpc {
  /** Sends one call in a request of its own; rejects on a JSON-RPC error. */
  call(call: RpcCall, signal?: AbortSignal): Promise<unknown>
  /**
   * Sends many calls in batches and resolves in their order. A node may mix up the items of a batch, so the caller must
   * check that each result belongs to its call.
   */
  callAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<unknown[]>
  /** Like {@link Rpc.callAll}, but resolves with JSON-RPC errors. */
  askAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcOutcome[]>
}

/** A fact that a read found out about its node. */
export type NodeFinding =
  | { readonly kind: 'head'; readonly number: number }
  /** A whole range of this many blocks was answered. */
  | { readonly kind: 'blocks-read'; readonly blocks: number }
  /** A request for the logs of this many blocks was answered. */
  | { readonly kind: 'range-read'; readonly blocks: number }
  /** A request for the logs of this many blocks failed, not by the rate limit, which shows nothing about the size. */
  | { readonly kind: 'range-failed'; readonly blocks: number }
  /** The node contradicts itself or the known chain. */
  | { readonly kind: 'contradiction'; readonly what: string }
  /** The node's answer for a block contradicts the header. */
  | { readonly kind: 'proof-failed'; readonly what: string }

export interface Node {
  readonly name: string
  /** Checks the node's chain id before the first request, and again after silence. */
  readonly rpc: Rpc
  /** The most blocks that a request for logs should span now, at least 1. */
  maxRange(): number
  /** Since the node was opened: bytes of answers (0 if not counted), and requests rejected by the rate limit. */
  traffic(): { readonly receivedBytes: number; readonly rejectedRequests: number }
  /** Whether no other node can answer now, so that a failed read is repeated here. */
  isAlone(): boolean
  note(finding: NodeFinding): void
}

export type RequestEnd =
  | Readonly<{ kind: 'answered'; calls: readonly RpcCall[]; ms: number; outcomes: readonly RpcOutcome[] }>
  /** The request is sent once more: the keep-alive connection was closed, or (`repeats`) the failure is transient. */
  | Readonly<{ kind: 'reconnects' }>
  | Readonly<{ kind: 'repeats' }>
  /** No usable answer. `isHostile`: the answer was made to exhaust its reader. */
  | Readonly<{ kind: 'lost'; calls: readonly RpcCall[]; error: Error; isHostile?: boolean }>
  /** Rejected by the node's rate limit. */
  | Readonly<{ kind: 'limited'; calls: readonly RpcCall[]; retryAfter: string | null; error: Error }>

export interface RpcOptions {
  readonly wire: Wire
  /** Redacted in messages. */
  readonly url: string | undefined
  readonly clock: Clock
  readonly requestTimeoutMs: number
  /** The most calls of the next request. */
  readonly batchSize: () => number
  /**
   * Runs before each request, and stops it by throwing.
   * @param canAddChainId - Whether the batch has room for a chain id call.
   * @returns Null to send the calls alone. Otherwise a chain id call is added: the returned function checks
   * the answer to that call, and throws to reject all answers.
   */
  beforeRequest(canAddChainId: boolean, signal: AbortSignal | undefined): Promise<((answer: unknown) => void) | null>
  /** Whether to repeat after a rate limit or a transient failure; `beforeRequest` waits. */
  mayRepeat(): boolean
  /** Called at the end of each request, except when the caller aborted or `eth_call` answered too much. */
  onEnd(end: RequestEnd): void
}

export function createRpc(fail: Failures, options: RpcOptions): Rpc {
  const { wire, clock, requestTimeoutMs, batchSize, beforeRequest, mayRepeat, onEnd } = options
  const redact = createRedactor(options.url)

  function noteLost(calls: readonly RpcCall[], what: string, isHostile = false): Error {
    const error = fail.unavailable(what)
    onEnd({ kind: 'lost', calls, error, isHostile })
    return error
  }

  function noteRateLimit(calls: readonly RpcCall[], what: string, retryAfter: string | null): Error {
    const error = fail.rateLimit(what)
    onEnd({ kind: 'limited', calls, retryAfter, error })
    return error
  }

  async function send(calls: readonly RpcCall[], caller: AbortSignal | undefined) {
    try {
      return await withDeadline(clock, requestTimeoutMs, caller, (signal) => wire.send(calls, signal))
    } catch (error) {
      if (caller?.aborted) throw caller.reason
      const failure = toRequestError(error, redact)
      throw failure.kind === 'stale' || failure.kind === 'transient' ? failure : toFailure(calls, failure)
    }
  }

  function toFailure(calls: readonly RpcCall[], { message, kind, retryAfter }: RequestError): Error {
    const methods = new Set(calls.map(({ method }) => method))
    const what = `${[...methods].join(', ')}: ${message}.`
    // A foreign contract chooses the size of its answer, which shows nothing about the node.
    if (kind === 'too-large' && methods.has('eth_call')) return fail.tooLarge(what)
    return kind === 'rate-limit' ? noteRateLimit(calls, what, retryAfter) : noteLost(calls, what, kind === 'hostile')
  }

  /** Null: the node's rate limit rejected a batch of this size, and the next one must be smaller. */
  async function sendWithRepeats(calls: readonly RpcCall[], caller: AbortSignal | undefined) {
    let isResent = false
    let repeats = 0
    for (let rejections = 0; ; ) {
      try {
        return await attempt(calls, caller)
      } catch (error) {
        // `send` throws a RequestError only for a stale connection or a transient failure.
        if (!(error instanceof RequestError)) {
          if (!isRateLimit(error) || !mayRepeat()) throw error
          if (batchSize() < calls.length) return null
          rejections += 1
          if (rejections === maxRateLimitAttempts) throw error
        } else if (error.kind === 'stale') {
          if (isResent) throw toFailure(calls, error)
          isResent = true
          onEnd({ kind: 'reconnects' })
        } else {
          if (repeats === maxRepeats || !mayRepeat()) throw toFailure(calls, error)
          repeats += 1
          onEnd({ kind: 'repeats' })
        }
      }
    }
  }

  /** Sends calls, together with the chain id call unless `beforeRequest` needs none. */
  async function attempt(calls: readonly RpcCall[], caller: AbortSignal | undefined): Promise<RpcOutcome[]> {
    const canAddChainId = includesChainId(calls) || calls.length < batchSize()
    const checkChainId = await beforeRequest(canAddChainId, caller)
    if (checkChainId === null) return exchange(calls, caller)
    const isIncluded = includesChainId(calls)
    const outcomes = await exchange(isIncluded ? calls : [chainIdCall, ...calls], caller)
    checkChainId(getResult(fail, chainIdCall.method, outcomes[0]))
    return isIncluded ? outcomes : outcomes.slice(1)
  }

  async function exchange(calls: readonly RpcCall[], caller: AbortSignal | undefined): Promise<RpcOutcome[]> {
    const startedAt = clock.now()
    const answers = await send(calls, caller)
    caller?.throwIfAborted()
    const outcomes = answers.map((answer, index): RpcOutcome => {
      if (answer === null) throw noteLost(calls, `${calls[index]?.method}: no answer.`)
      return answer.ok ? answer : { ...answer, message: redact(answer.message) }
    })
    for (const [index, outcome] of outcomes.entries())
      if (!outcome.ok && outcome.code === rateLimitCode)
        throw noteRateLimit(calls, `${calls[index]?.method}: ${describeRpcError(outcome)}.`, null)
    onEnd({ kind: 'answered', calls, ms: clock.now() - startedAt, outcomes })
    return outcomes
  }

  async function askAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcOutcome[]> {
    const outcomes: RpcOutcome[] = []
    for (let start = 0; start < calls.length; ) {
      const batch = calls.slice(start, start + batchSize())
      const answered = await sendWithRepeats(batch, signal)
      if (answered === null) continue
      outcomes.push(...answered)
      start += batch.length
    }
    return outcomes
  }

  return {
    askAll,
    call: async (call, signal) => getResult(fail, call.method, (await askAll([call], signal))[0]),
    async callAll(calls, signal) {
      const outcomes = await askAll(calls, signal)
      return calls.map(({ method }, index) => getResult(fail, method, outcomes[index]))
    },
  }
}

/** @param what - The call, for the message of the error when the node rejected it, or left out its answer. */
export function getResult(fail: Failures, what: string, outcome: RpcOutcome | undefined): unknown {
  if (outcome?.ok) return outcome.result
  throw fail.unavailable(`${what}: ${describeRpcError(outcome)}.`)
}

export const chainIdCall: RpcCall = { method: 'eth_chainId', params: [] }

export function buildHeaderCall(block: number | 'latest'): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [block === 'latest' ? block : formatQuantity(block), false] }
}

/** Includes the transactions of the block. */
export function buildBlockCall(height: number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [formatQuantity(height), true] }
}

export function buildReceiptCall(txHash: string): RpcCall {
  return { method: 'eth_getTransactionReceipt', params: [txHash] }
}

function includesChainId([first]: readonly RpcCall[]): boolean {
  return first?.method === chainIdCall.method
}

/** Repeats of one request after transient failures. */
const maxRepeats = 3
/** Rate limit rejections of one request before its caller gets the error. */
const maxRateLimitAttempts = 5
/** JSON-RPC code of a rate limit, equal to the HTTP status. */
const rateLimitCode = 429
