/** Whose fault a failed `eth_call` is: the token's, whose code is foreign, or the node's. @module */
import type { RpcOutcome } from './internal/json-rpc.js'

/** Nodes' words for code that reverted or stopped. Tested first, because the reason that follows may hold any text. */
const stopped =
  /revert|invalid opcode|bad instruction|out of gas|invalid jump|stack (under|over)flow|EVM error|VM execution/i

/** Codes of refusals: HTTP's rate limit, and "not found", "unavailable" and "limit exceeded" of EIP-1474. */
const refusals: ReadonlySet<number | null> = new Set([429, -32_001, -32_002, -32_005])

/** The node cannot answer now, or lacks the state that was asked for. */
const unable =
  /rate.?limit|too many|throttl|quota|capacity|compute units|time(d )?.?out|missing trie node|(header|block|state)\b.{0,160} not (found|available)|unknown block|pruned|historical|archive/i

/**
 * Judges a call that the node answered with a JSON-RPC error. Nodes word the dozens of reasons freely, so most errors
 * are `unclear`. A second call, of code that cannot fail, then shows whether the node works.
 */
export function callFault({ code, message }: Extract<RpcOutcome, { ok: false }>): 'token' | 'node' | 'unclear' {
  if (code === 3 || code === -32_015 || stopped.test(message)) return 'token'
  return refusals.has(code) || unable.test(message) ? 'node' : 'unclear'
}
