/** JSON-RPC on the wire: requests, items of an answer, and how many bytes an answer may have. @module */
import { findRpcError, NotJsonRpcError } from './failures.js'

/** Most bytes by method. Other answers, such as logs, receipts and full blocks, may be as large as any. */
const bytesByMethod: Readonly<Record<string, number>> = {
  eth_blockNumber: 65_536,
  eth_chainId: 65_536,
  eth_subscribe: 65_536,
  // The answer of a foreign contract, or the reason of its revert.
  eth_call: 65_536,
  // Twice the largest contract of any chain, as hex.
  eth_getCode: 1_048_576,
}
/** The hashes of 30,000 transactions. */
const headerBytes = 2_097_152
/** Limit for a rejection: a JSON-RPC error, or the body of an HTTP error status. */
export const maxErrorBytes = 65_536
/** The beginning of an answer that is an error: it may name its number first, but no result. */
const errorStart =
  /^\s{0,16}\{\s{0,16}(?:"(?:jsonrpc|id|result)"\s{0,16}:\s{0,16}(?:"[^"]{0,64}"|\d{1,16}|null)\s{0,16},\s{0,16}){0,3}"error"\s{0,16}:\s{0,16}[{"]/

/** The part of a call that its size depends on. */
interface SizedCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** Most bytes of the answer to `calls`: the sum over them, and never more than `most`. */
export function computeMaxAnswerBytes(calls: readonly SizedCall[], limit: number): number {
  let sum = 0
  for (const { method, params } of calls) {
    const isHeader = method === 'eth_getBlockByNumber' && params[1] === false
    sum += isHeader ? headerBytes : (bytesByMethod[method] ?? limit)
    if (sum >= limit) return limit
  }
  return sum
}

/** Whether an answer is one JSON-RPC error of more bytes than a rejection may have, by its first bytes. */
export function isLargeError(answer: Buffer): boolean {
  return answer.length > maxErrorBytes && errorStart.test(answer.toString('latin1', 0, 512))
}

/** One call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The outcome of a call: its result, or the node's JSON-RPC error. */
export type RpcOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number | null; readonly message: string }

/** One way to a node. */
export interface Wire {
  /**
   * Sends calls as one request; several are one JSON-RPC batch. Resolves with the answers in the order of the calls,
   * null for a missing one. Messages of errors are the node's own.
   * Rejects when there is no answer, with an error for `describeFailure`. A `StaleConnectionError` says that the kept
   * connection was closed, before anything is sent on a new one.
   */
  send(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly (RpcOutcome | null)[]>
  /** Bytes of all answers so far, unpacked; 0 when they are not counted. */
  receivedBytes(): number
  /** Ends all connections. */
  close(): void
}

/** The text that asks for `calls`, numbered from `firstId`. */
export function encodeCalls(calls: readonly RpcCall[], firstId: number): string {
  const items = calls.map(({ method, params }, index) => ({ jsonrpc: '2.0', id: firstId + index, method, params }))
  return JSON.stringify(items.length === 1 ? items[0] : items)
}

/**
 * The answers to `count` calls numbered from `firstId`. Items of a batch are assigned by their id, in any order.
 * A lone answer belongs to the lone call whatever its id. An error for a batch as a whole answers each of its calls.
 * @throws NotJsonRpcError When it answers nothing.
 */
export function decodeAnswer(answer: unknown, firstId: number, count: number): (RpcOutcome | null)[] {
  if (count === 1) return [toOutcome(answer)]
  if (Array.isArray(answer)) return decodeBatch(answer, firstId, count)
  const outcome = toOutcome(answer)
  if (outcome.ok) throw new NotJsonRpcError()
  return Array.from({ length: count }, () => outcome)
}

function decodeBatch(items: readonly unknown[], firstId: number, count: number): (RpcOutcome | null)[] {
  const outcomes: (RpcOutcome | null)[] = Array.from({ length: count }, () => null)
  for (const item of items) {
    const index = parseId(item) - firstId
    if (index >= 0 && index < count) outcomes[index] = toOutcome(item)
  }
  return outcomes
}

/** The number of an answer; NaN when it has none. Some nodes write numbers as text. */
export function parseId(answer: unknown): number {
  const id: unknown = typeof answer === 'object' && answer !== null && 'id' in answer ? answer.id : undefined
  return typeof id === 'number' || (typeof id === 'string' && /^[0-9]{1,15}$/.test(id)) ? Number(id) : Number.NaN
}

/** @throws NotJsonRpcError When `answer` is null. Whether a result is what was asked for is the reader's business. */
function toOutcome(answer: unknown): RpcOutcome {
  if (answer === null || answer === undefined) throw new NotJsonRpcError()
  const { result, error } = answer as { readonly result?: unknown; readonly error?: unknown }
  if (error === undefined || error === null) return { ok: true, result }
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  return {
    ok: false,
    code: typeof code === 'number' && Number.isSafeInteger(code) ? code : null,
    message: typeof message === 'string' ? message : typeof error === 'string' ? error : 'no message',
  }
}

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
        const answered = findRpcError(outcome.reason)
        if (answered === null) throw outcome.reason
        return { ok: false, ...answered }
      })
    },
    receivedBytes: () => 0,
    close() {},
  }
}

/** The URL of a transport that has one; its parts must stay secret. */
export function getTransportUrl(transport: Transport): string | undefined {
  const url: unknown = openTransport(transport).value?.['url']
  return typeof url === 'string' ? url : undefined
}

function openTransport(transport: Transport): ReturnType<Transport> & { request: Request } {
  return transport({ retryCount: 0 }) as ReturnType<Transport> & { request: Request }
}
