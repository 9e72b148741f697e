/** Reads symbols and decimals of tokens, once each. Tokens are foreign code: any bytes may come. @module */

import type { TokenFacts } from '@payment-integration/core/ports'
import { parseHeader } from '../rpc/answers.js'
import { askWithChainId, type ExpectedChain } from '../rpc/chain-guard.js'
import { describeRpcError, type Failures, TooLargeAnswerError } from '../rpc/failures.js'
import { byteLength, formatQuantity, isHex, wordAt, wordToOffset } from '../rpc/hex.js'
import type { Node, RpcCall, RpcOutcome } from '../rpc/json-rpc.js'

/** Longest symbol that is kept, in code points. */
const maxSymbolLength = 64

/**
 * Reads a symbol: an ABI string, or 32 bytes padded with NUL as early tokens answer it. Cut to 64 code points.
 * @returns The symbol, or null for an empty answer and for bytes that are not UTF-8 text or hold NUL.
 */
export function parseSymbol(answer: string): string | null {
  const bytes = byteLength(answer) === 32 ? answer.slice(2).replace(/(00){1,32}$/, '') : sliceString(answer)
  if (bytes === null || bytes.length === 0) return null
  const text = decodeUtf8(bytes)
  if (text === null || text.includes('\0')) return null
  return [...text].slice(0, maxSymbolLength).join('')
}

/** Reads decimals: 0 to 255, and 0 for any other answer. */
export function parseDecimals(answer: string): number {
  const value = wordToOffset(wordAt(answer, 0))
  return value !== null && value <= 255 ? value : 0
}

function sliceString(answer: string): string | null {
  const offset = wordToOffset(wordAt(answer, 0))
  const length = offset === null ? null : wordToOffset(wordAt(answer, offset))
  if (offset === null || length === null) return null
  const start = 2 + (offset + 32) * 2
  return start + length * 2 <= answer.length ? answer.slice(start, start + length * 2) : null
}

function decodeUtf8(hex: string): string | null {
  // Four bytes are the most that one code point takes, so the rest of a very long answer need not be decoded.
  const isWhole = hex.length / 2 <= maxSymbolLength * 4
  const bytes = Uint8Array.from(hex.slice(0, maxSymbolLength * 8).match(/../g) ?? [], (pair) =>
    Number.parseInt(pair, 16),
  )
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !isWhole })
  } catch {
    return null
  }
}

/** Nodes' words for code that reverted or stopped. Tested first, because the reason that follows may hold any text. */
const revertWords =
  /revert|invalid opcode|bad instruction|out of gas|invalid jump|stack (under|over)flow|EVM error|VM execution/i

/** Codes of rejections: HTTP's rate limit, and "not found", "unavailable" and "limit exceeded" of EIP-1474. */
const rejectionCodes: ReadonlySet<number | null> = new Set([429, -32_001, -32_002, -32_005])

/** The node cannot answer now, or lacks the state that was asked for. */
const unableWords =
  /rate.?limit|too many|throttl|quota|capacity|compute units|time(d )?.?out|missing trie node|(header|block|state)\b.{0,160} not (found|available)|unknown block|pruned|historical|archive/i

/**
 * Judges a call that the node answered with a JSON-RPC error. Nodes word the dozens of reasons freely, so most errors
 * are `unclear`. A second call, of code that cannot fail, then shows whether the node works.
 */
export function classifyFault({ code, message }: Extract<RpcOutcome, { ok: false }>): 'token' | 'node' | 'unclear' {
  if (code === 3 || code === -32_015 || revertWords.test(message)) return 'token'
  return rejectionCodes.has(code) || unableWords.test(message) ? 'node' : 'unclear'
}

const symbolSelector = '0x95d89b41'
const decimalsSelector = '0x313ce567'
/** Bounds the work and the answer of a hostile token; an honest one needs less than a hundredth. */
const gasLimit = '0x4c4b40'
/** The precompiled contract that answers what it is given: a call that works wherever calls work. */
const identityContract = '0x0000000000000000000000000000000000000004'
/** How often a failure that may be the node's is looked at before it is taken for the token's. */
const maxFailureChecks = 3
/** Anybody can make payments in new tokens, so the cache has a bound; the oldest entry leaves first. */
const maxEntries = 10_000

/** Answers what a token is. */
export interface TokenMetadata {
  /**
   * @param node - The node to ask when the answer is not kept.
   * @param height - The block up to which payments are read; a node whose newest block is below it is not trusted.
   * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node does not answer; a token that does not answer is no error.
   */
  read(node: Node, address: string, height: number, signal?: AbortSignal): Promise<TokenFacts>
}

/** Facts, and the last block for which they are valid. */
interface Entry {
  readonly facts: TokenFacts
  readonly validUpTo: number
}

/**
 * A cache in front of `eth_call`. A contract's answer is cached for good, also "it has none". An address without code
 * is asked again in later blocks, since a token may be deployed there. A failed request is not cached.
 */
export function createTokenMetadata(chainId: number, fail: Failures, native: TokenFacts): TokenMetadata {
  const known = new Map<string, Entry>()

  async function read(node: Node, address: string, height: number, signal?: AbortSignal): Promise<Entry> {
    const newest = { method: 'eth_getBlockByNumber', params: ['latest', false] }
    const ownChain = { chainId, fail, node }
    const [head, symbol, decimals] = await callToken(ownChain, [newest, ...buildTokenCalls(address, 'latest')], signal)
    if (!head?.ok) throw fail.unavailable(`eth_getBlockByNumber: ${describeRpcError(head)}.`)
    const at = parseHeader(head.result, fail)?.number ?? -1
    if (at < height) throw fail.unavailable(`the node's newest block is below ${height}, where a token is asked for.`)
    if (isAnswer(symbol) && isAnswer(decimals))
      return { facts: toFacts(address, symbol.result, decimals.result), validUpTo: Number.POSITIVE_INFINITY }
    // Nodes and contracts word their faults freely; a contract's own fault recurs each time.
    let settled = await recheck(node, address, at, signal)
    for (let looks = 1; !settled.isClear && looks < maxFailureChecks; looks++)
      settled = await recheck(node, address, at, signal)
    return settled.entry
  }

  /**
   * Repeats empty and failed calls at a fixed height. Behind a gateway, another node than the one that reported the
   * newest block may have answered, and a node without this block says so. Code, and a call that cannot fail, come
   * along.
   */
  async function recheck(node: Node, address: string, at: number, signal?: AbortSignal) {
    const block = formatQuantity(at)
    const getCode = { method: 'eth_getCode', params: [address, block] }
    const calls = [getCode, buildCall(identityContract, symbolSelector, block), ...buildTokenCalls(address, block)]
    const [code, probe, symbol, decimals] = await callToken({ chainId, fail, node }, calls, signal)
    if (!code?.ok || !isHex(code.result))
      throw fail.unavailable(`eth_getCode: ${code?.ok === false ? describeRpcError(code) : 'something else than hex'}.`)
    const answers = [symbol, decimals].map((outcome) => getBytes(outcome, probe))
    const entry: Entry = {
      facts: toFacts(address, answers[0] ?? '0x', answers[1] ?? '0x'),
      validUpTo: code.result === '0x' ? at : Number.POSITIVE_INFINITY,
    }
    return {
      entry,
      isClear: ![symbol, decimals].some((outcome) => outcome?.ok === false && classifyFault(outcome) === 'unclear'),
    }
  }

  /** The bytes that a token answered. None when its code failed: the same node then answers the probe. */
  function getBytes(outcome: RpcOutcome | undefined, probe: RpcOutcome | undefined): string {
    if (outcome?.ok) {
      if (isHex(outcome.result)) return outcome.result
      throw fail.unavailable('eth_call answered something else than hex.')
    }
    if (outcome === undefined) throw fail.unavailable('eth_call: no answer.')
    const fault = classifyFault(outcome)
    if (fault === 'token' || (fault === 'unclear' && probe?.ok)) return '0x'
    throw fail.unavailable(`eth_call: ${describeRpcError(outcome)}.`)
  }

  return {
    async read(node, address, height, signal) {
      if (address === native.address) return native
      const cached = known.get(address)
      if (cached !== undefined && height <= cached.validUpTo) return cached.facts
      const entry = await read(node, address, height, signal)
      const [oldest] = known.keys()
      if (known.size >= maxEntries && oldest !== undefined) known.delete(oldest)
      known.set(address, entry)
      return entry.facts
    },
  }
}

/**
 * As `askWithChainId`. When the answer is too large, each call is sent alone. One that is too large by itself failed: a
 * contract may answer as much as its gas pays for.
 */
async function callToken(
  ownChain: ExpectedChain,
  calls: readonly RpcCall[],
  signal?: AbortSignal,
): Promise<RpcOutcome[]> {
  try {
    return await askWithChainId(ownChain, calls, signal)
  } catch (error) {
    if (!(error instanceof TooLargeAnswerError)) throw error
    if (calls.length === 1) return [{ ok: false, code: null, message: 'the answer is too large' }]
  }
  const outcomes: RpcOutcome[] = []
  for (const call of calls) outcomes.push(...(await callToken(ownChain, [call], signal)))
  return outcomes
}

function buildCall(to: string, data: string, block: string): RpcCall {
  return { method: 'eth_call', params: [{ to, data, gas: gasLimit }, block] }
}

function buildTokenCalls(address: string, block: string): RpcCall[] {
  return [symbolSelector, decimalsSelector].map((selector) => buildCall(address, selector, block))
}

/** Bytes can only come from the token's own code; nothing, or an error, may be the node's. */
function isAnswer(outcome: RpcOutcome | undefined): outcome is { ok: true; result: string } {
  return outcome?.ok === true && isHex(outcome.result) && outcome.result !== '0x'
}

function toFacts(address: string, symbol: string, decimals: string): TokenFacts {
  return { address, symbol: parseSymbol(symbol), decimals: parseDecimals(decimals) }
}
