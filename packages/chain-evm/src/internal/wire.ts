/** JSON-RPC on the wire: what is sent for calls, and what the items of an answer mean. @module */
import { NotJsonRpcError } from './failures.js'

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
  received(): number
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
    const index = idOf(item) - firstId
    if (index >= 0 && index < count) outcomes[index] = toOutcome(item)
  }
  return outcomes
}

/** The number of an answer; NaN when it has none. Some nodes write numbers as text. */
export function idOf(answer: unknown): number {
  const id: unknown = typeof answer === 'object' && answer !== null && 'id' in answer ? answer.id : undefined
  return typeof id === 'number' || (typeof id === 'string' && /^[0-9]{1,15}$/.test(id)) ? Number(id) : Number.NaN
}

/** @throws NotJsonRpcError When `answer` is null. Whether a result is what was asked for is the reader's business. */
export function toOutcome(answer: unknown): RpcOutcome {
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
