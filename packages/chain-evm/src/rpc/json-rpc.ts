/** JSON-RPC calls to one node, over any wire. @module */
import type { Clock } from '@payment-integration/core/ports'
import {
  createRedactor,
  describeFailure,
  describeRpcError,
  type Failures,
  findRateLimit,
  isExcessive,
  isRateLimit,
  isTooLarge,
  isTransient,
  StaleConnectionError,
  withDeadline,
} from './failures.js'
import type { RpcCall, RpcOutcome, Wire } from './wire.js'

export type { RpcCall, RpcOutcome } from './wire.js'

/** Calls to one node. Every rejection is a ChainError, or the caller's own reason when its signal aborted. */
export interface Rpc {
  /** One call, in a request of its own. */
  call(call: RpcCall, signal?: AbortSignal): Promise<unknown>
  /** One call whose JSON-RPC error is an answer too. */
  ask(call: RpcCall, signal?: AbortSignal): Promise<RpcOutcome>
  /**
   * Many calls, in order, in as few requests as the batch size allows. A node may mix up the items of a batch, so the
   * caller must check that each result is the one it asked for.
   */
  all(calls: readonly RpcCall[], signal?: AbortSignal): Promise<unknown[]>
  /** As {@link Rpc.all}, with JSON-RPC errors as answers. */
  askAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcOutcome[]>
}

/** A finding of a read about its node, beside whether it answered. */
export type NodeFinding =
  /** It reported this head. */
  | { readonly kind: 'head'; readonly number: number }
  /** It answered all of a range of this many blocks. */
  | { readonly kind: 'blocks-read'; readonly blocks: number }
  /** It answered a request for the logs of this many blocks. */
  | { readonly kind: 'range-read'; readonly blocks: number }
  /** It failed on a request for the logs of this many blocks; a rate limit is none of the size's business. */
  | { readonly kind: 'range-failed'; readonly blocks: number; readonly rateLimited: boolean }
  /** It contradicted itself, or what is known of the chain. */
  | { readonly kind: 'contradiction'; readonly what: string }
  /** Its answer for a block does not lead to the header. */
  | { readonly kind: 'proof-failed'; readonly what: string }

/** One node behind one address. */
export interface Node {
  readonly name: string
  /** Requests to this node alone; it is asked for its chain id before the first one, and again after silence. */
  readonly rpc: Rpc
  /** Most blocks that one request for logs should span now: at least 1. */
  maxRange(): number
  /** Bytes that it has answered since it opened, 0 when they are not counted, and requests rejected for the rate. */
  traffic(): { readonly receivedBytes: number; readonly rejectedRequests: number }
  /** Whether no other node would answer now, so that a failed read is repeated here. */
  isAlone(): boolean
  /** Tells what was found out. */
  note(finding: NodeFinding): void
}

/** The end of one request. */
export type RequestEnd =
  /** It was answered, after this many milliseconds. */
  | {
      readonly kind: 'answered'
      readonly calls: readonly RpcCall[]
      readonly ms: number
      readonly outcomes: readonly RpcOutcome[]
    }
  /** Its kept connection was closed. Every call is a read, so it is sent once more, and `beforeRequest` runs again first. */
  | { readonly kind: 'reconnects' }
  /** A gateway failed at once, or the answer was cut: it is sent once more, and `beforeRequest` runs again first. */
  | { readonly kind: 'repeats' }
  /**
   * It brought no answer, or not all of it. An answer that a foreign contract made too large is not reported.
   * `isHostile`: the answer was made to exhaust its reader.
   */
  | {
      readonly kind: 'lost'
      readonly calls: readonly RpcCall[]
      readonly error: Error
      readonly isHostile?: boolean
    }
  /** The node wants fewer requests: what it said about when to come back, or null. */
  | {
      readonly kind: 'limited'
      readonly calls: readonly RpcCall[]
      readonly retryAfter: string | null
      readonly error: Error
    }

/** How to reach the node. */
export interface RpcOptions {
  readonly wire: Wire
  /** The node's URL, so that no message repeats a part of it. */
  readonly url: string | undefined
  readonly clock: Clock
  readonly requestTimeoutMs: number
  /** Most calls of the next request. */
  readonly batchSize: () => number
  /**
   * Runs before each request; what it throws is thrown instead of asking.
   * @param canCarry - Whether the request can carry the call for the chain id as well.
   * @returns Whether it is to carry it.
   */
  readonly beforeRequest?: ((canCarry: boolean, signal: AbortSignal | undefined) => Promise<boolean>) | undefined
  /** Checks the chain id that a request carried; what it throws is thrown instead of the answers. */
  readonly checkChain?: ((answer: RpcOutcome) => void) | undefined
  /**
   * Whether a request is repeated here that was rejected for its rate, or failed briefly; `beforeRequest` does the waiting.
   * @default never
   */
  readonly mayRepeat?: (() => boolean) | undefined
  /** Told of the end of each request, except when the caller gave up. */
  readonly onEnd?: ((end: RequestEnd) => void) | undefined
}

/** Opens the calls. Nothing is sent yet. */
export function createRpc(fail: Failures, options: RpcOptions): Rpc {
  const {
    wire,
    clock,
    requestTimeoutMs,
    batchSize,
    beforeRequest: before,
    mayRepeat: isPatient = () => false,
    onEnd = () => {},
  } = options
  const { checkChain = () => {} } = options
  const redact = createRedactor(options.url)

  function noteLost(calls: readonly RpcCall[], what: string, isHostile = false): Error {
    const error = fail.unavailable(what)
    onEnd({ kind: 'lost', calls, error, isHostile })
    return error
  }

  function noteRateLimit(calls: readonly RpcCall[], what: string, retryAfter: string | null): Error {
    const error = fail.limited(what)
    onEnd({ kind: 'limited', calls, retryAfter, error })
    return error
  }

  async function exchange(calls: readonly RpcCall[], caller: AbortSignal | undefined) {
    try {
      return await withDeadline(clock, requestTimeoutMs, caller, (signal) => wire.send(calls, signal))
    } catch (error) {
      if (caller?.aborted) throw caller.reason
      if (error instanceof StaleConnectionError || isTransient(error)) throw error
      throw toFailure(calls, error)
    }
  }

  function toFailure(calls: readonly RpcCall[], error: unknown): Error {
    const what = `${joinMethods(calls)}: ${describeFailure(error, redact)}.`
    // A foreign contract decides how much it answers to a call, and by that nothing about the node.
    if (isTooLarge(error) && calls.some(({ method }) => method === 'eth_call')) return fail.tooLarge(what)
    const limit = findRateLimit(error)
    return limit === null ? noteLost(calls, what, isExcessive(error)) : noteRateLimit(calls, what, limit.retryAfter)
  }

  /** Null: the node rejected so many calls at once, and is to be asked for fewer. */
  async function sendWithRepeats(
    calls: readonly RpcCall[],
    caller: AbortSignal | undefined,
  ): Promise<RpcOutcome[] | null> {
    let isResent = false
    let repeats = 0
    for (let rejections = 0; ; ) {
      try {
        const canAddChainId = includesChainId(calls) || calls.length < batchSize()
        const addsChainId = (await before?.(canAddChainId, caller)) ?? false
        return addsChainId ? await attemptWithChainId(calls, caller) : await attempt(calls, caller)
      } catch (error) {
        if (isTransient(error)) {
          if (repeats === maxRepeats || !isPatient()) throw toFailure(calls, error)
          repeats += 1
          onEnd({ kind: 'repeats' })
        } else if (error instanceof StaleConnectionError) {
          if (isResent) throw toFailure(calls, error)
          isResent = true
          onEnd({ kind: 'reconnects' })
        } else {
          if (!isRateLimit(error) || !isPatient()) throw error
          if (batchSize() < calls.length) return null
          rejections += 1
          if (rejections === maxRateLimitAttempts) throw error
        }
      }
    }
  }

  async function attemptWithChainId(calls: readonly RpcCall[], caller: AbortSignal | undefined): Promise<RpcOutcome[]> {
    const isIncluded = includesChainId(calls)
    const outcomes = await attempt(isIncluded ? calls : [chainIdCall, ...calls], caller)
    const [answer] = outcomes
    if (answer !== undefined) checkChain(answer)
    return isIncluded ? outcomes : outcomes.slice(1)
  }

  async function attempt(calls: readonly RpcCall[], caller: AbortSignal | undefined): Promise<RpcOutcome[]> {
    const startedAt = clock.now()
    const answers = await exchange(calls, caller)
    caller?.throwIfAborted()
    const outcomes = answers.map((answer, index): RpcOutcome => {
      if (answer === null) throw noteLost(calls, `${calls[index]?.method}: no answer.`)
      return answer.ok ? answer : { ...answer, message: redact(answer.message) }
    })
    const rejectedIndex = outcomes.findIndex((outcome) => !outcome.ok && outcome.code === rateLimitCode)
    if (rejectedIndex !== -1)
      throw noteRateLimit(
        calls,
        `${calls[rejectedIndex]?.method}: ${describeRpcError(getError(outcomes[rejectedIndex]))}.`,
        null,
      )
    onEnd({ kind: 'answered', calls, ms: clock.now() - startedAt, outcomes })
    return outcomes
  }

  async function askAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcOutcome[]> {
    const outcomes: RpcOutcome[] = []
    for (let start = 0; start < calls.length; ) {
      const some = calls.slice(start, start + batchSize())
      const answered = await sendWithRepeats(some, signal)
      if (answered === null) continue
      outcomes.push(...answered)
      start += some.length
    }
    return outcomes
  }

  function getResult(call: RpcCall | undefined, outcome: RpcOutcome | undefined): unknown {
    if (outcome?.ok) return outcome.result
    throw fail.unavailable(`${call?.method}: ${describeRpcError(outcome)}.`)
  }

  async function ask(call: RpcCall, signal?: AbortSignal): Promise<RpcOutcome> {
    const [outcome] = await askAll([call], signal)
    if (outcome === undefined) throw fail.unavailable(`${call.method}: no answer.`)
    return outcome
  }

  return {
    ask,
    askAll,
    call: async (call, signal) => getResult(call, await ask(call, signal)),
    all: async (calls, signal) =>
      (await askAll(calls, signal)).map((outcome, index) => getResult(calls[index], outcome)),
  }
}

/** The call for the chain id. */
export const chainIdCall: RpcCall = { method: 'eth_chainId', params: [] }

function includesChainId([first]: readonly RpcCall[]): boolean {
  return first?.method === chainIdCall.method
}

/** How often one request is repeated because a gateway failed at once, or its answer was cut. */
const maxRepeats = 3

/** How often one request may be rejected for its rate before the caller hears of it. */
const maxRateLimitAttempts = 5

/** The JSON-RPC code of a call rejected for its rate; the same number as the HTTP status. */
const rateLimitCode = 429

function getError(outcome: RpcOutcome | undefined) {
  return outcome === undefined || outcome.ok ? undefined : outcome
}

function joinMethods(calls: readonly RpcCall[]): string {
  return [...new Set(calls.map((call) => call.method))].join(', ')
}
