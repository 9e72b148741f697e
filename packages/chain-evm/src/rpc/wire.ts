/** JSON-RPC messages, their size limits, and the wire over a viem transport. @module */
import { buildNotJsonRpcError, findRpcError } from './failures.js'

/** Limits by method. Other answers (logs, receipts, whole blocks) have only the general limit. */
const bytesByMethod: Readonly<Record<string, number>> = {
  eth_blockNumber: 65_536,
  eth_chainId: 65_536,
  eth_subscribe: 65_536,
  // A foreign contract writes the answer, or the revert reason.
  eth_call: 65_536,
  // Twice the largest contract of any chain, as hex.
  eth_getCode: 1_048_576,
}
/** Fits a header with 30,000 transactions. */
const headerBytes = 2_097_152
/** Limit of a JSON-RPC error, and of the body of an HTTP error status. */
export const maxErrorBytes = 65_536
/** The start of a JSON-RPC error: version, id and an empty result may come first. */
const errorStart =
  /^\s{0,16}\{\s{0,16}(?:"(?:jsonrpc|id|result)"\s{0,16}:\s{0,16}(?:"[^"]{0,64}"|\d{1,16}|null)\s{0,16},\s{0,16}){0,3}"error"\s{0,16}:\s{0,16}[{"]/

/** The limit of the answer to `calls`: the sum of their limits, up to `limit`. */
export function computeMaxAnswerBytes(calls: readonly RpcCall[], limit: number): number {
  let sum = 0
  for (const { method, params } of calls) {
    const isHeader = method === 'eth_getBlockByNumber' && params[1] === false
    sum += isHeader ? headerBytes : (bytesByMethod[method] ?? limit)
    if (sum >= limit) return limit
  }
  return sum
}

/** Whether an answer begins like a JSON-RPC error but exceeds its size limit. */
export function isLargeError(answer: Buffer): boolean {
  return answer.length > maxErrorBytes && errorStart.test(answer.toString('latin1', 0, 512))
}

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The result of a call, or the node's JSON-RPC error. */
export type RpcOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number | null; readonly message: string }

export interface WireOptions {
  /** Credentials become a Basic header. */
  readonly url: string
  /** Limit of an answer, decompressed; a larger message closes a WebSocket. */
  readonly maxResponseBytes: number
}

export interface Wire {
  /**
   * Sends calls, as one JSON-RPC batch where possible. Resolves with an outcome per call, null where the node left
   * it out; error messages are not redacted. Rejects with an error for `toRequestError` when there is no answer, and
   * with `StaleConnectionError` when a keep-alive connection was closed.
   */
  send(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly (RpcOutcome | null)[]>
  /** Uncompressed bytes of all answers so far; 0 if they are not counted. */
  receivedBytes(): number
  close(): void
}

export function encodeCalls(calls: readonly RpcCall[], firstId: number): string {
  const items = calls.map(({ method, params }, index) => ({ jsonrpc: '2.0', id: firstId + index, method, params }))
  return JSON.stringify(items.length === 1 ? items[0] : items)
}

/**
 * Assigns an answer to the `count` calls with ids from `firstId` on. The answer to a single call needs no id. A single
 * error for a batch applies to each call; a single result is rejected.
 */
export function decodeAnswer(answer: unknown, firstId: number, count: number): (RpcOutcome | null)[] {
  if (count === 1) return [toOutcome(answer)]
  if (!Array.isArray(answer)) {
    const outcome = toOutcome(answer)
    if (outcome.ok) throw buildNotJsonRpcError()
    return Array.from({ length: count }, () => outcome)
  }
  const outcomes: (RpcOutcome | null)[] = Array.from({ length: count }, () => null)
  for (const item of answer as readonly unknown[]) {
    const index = parseId(item) - firstId
    if (index >= 0 && index < count) outcomes[index] = toOutcome(item)
  }
  return outcomes
}

/** The id of an answer, NaN when there is none. Some nodes write ids as text. */
export function parseId(answer: unknown): number {
  const id: unknown = typeof answer === 'object' && answer !== null && 'id' in answer ? answer.id : undefined
  return typeof id === 'number' || (typeof id === 'string' && /^[0-9]{1,15}$/.test(id)) ? Number(id) : Number.NaN
}

function toOutcome(answer: unknown): RpcOutcome {
  if (answer === null || answer === undefined) throw buildNotJsonRpcError()
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
 * A viem transport, such as `http(url)`. Typed by structure, so that nobody needs viem's types to compile against this
 * package.
 */
export type Transport = (options: { readonly retryCount: number }) => {
  readonly request: (...args: never) => Promise<unknown>
  readonly value?: Readonly<Record<string, unknown>> | undefined
}

type Request = (call: RpcCall, options: { signal: AbortSignal; retryCount: 0 }) => Promise<unknown>

/**
 * Makes a wire that sends each call as a request of its own, in parallel. The caller owns the transport's connections.
 * @param url - For redaction, if the transport has none.
 */
export function createTransportWire(transport: Transport, url: string | undefined) {
  const { request, value } = transport({ retryCount: 0 }) as ReturnType<Transport> & { request: Request }
  const openedUrl = value?.['url']
  const wire: Wire = {
    async send(calls, signal) {
      const requests = calls.map(({ method, params }) => request({ method, params }, { signal, retryCount: 0 }))
      const settled = await Promise.allSettled(requests)
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
  return { wire, url: typeof openedUrl === 'string' ? openedUrl : url }
}
