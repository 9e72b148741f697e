/** Reads symbol and decimals of tokens, which are foreign code and may answer anything. @module */
import type { TokenFacts } from '@payment-integration/core/ports'
import { parseHeader } from '../rpc/answers.js'
import { askWithChainId, type ExpectedChain } from '../rpc/chain-guard.js'
import { type Failures, ResultTooLargeError } from '../rpc/failures.js'
import { byteLength, bytesAt, formatQuantity, isHex, wordAt, wordToOffset } from '../rpc/hex.js'
import { buildHeaderCall, getResult, type RpcCall, type RpcOutcome } from '../rpc/json-rpc.js'

/** In code points. */
const maxSymbolLength = 64

/**
 * Parses a symbol, truncated to 64 code points: an ABI string or, from an early token, 32 bytes padded with NUL.
 * @returns Null for an empty answer, and for bytes that are not UTF-8 or contain NUL.
 */
export function parseSymbol(answer: string): string | null {
  const bytes = byteLength(answer) === 32 ? answer.slice(2).replace(/(00){1,32}$/, '') : sliceString(answer)
  if (bytes === null || bytes.length === 0) return null
  const text = decodeUtf8(bytes)
  if (text === null || text.includes('\0')) return null
  return [...text].slice(0, maxSymbolLength).join('')
}

/** Parses decimals from 0 to 255; any other answer is 0. */
export function parseDecimals(answer: string): number {
  const value = wordToOffset(wordAt(answer, 0))
  return value !== null && value <= 255 ? value : 0
}

function sliceString(answer: string): string | null {
  const offset = wordToOffset(wordAt(answer, 0))
  return offset === null ? null : bytesAt(answer, offset)
}

function decodeUtf8(hex: string): string | null {
  // A code point has at most four bytes, so the rest of a very long answer need not be decoded.
  const isWhole = hex.length / 2 <= maxSymbolLength * 4
  const bytes = Buffer.from(hex.slice(0, maxSymbolLength * 8), 'hex')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !isWhole })
  } catch {
    return null
  }
}

/** Words of nodes for a reverted execution. Tested first, because the revert reason may contain any text. */
const revertWords =
  /revert|invalid opcode|bad instruction|out of gas|invalid jump|stack (under|over)flow|EVM error|VM execution/i

/** HTTP's rate limit, and "not found", "unavailable" and "limit exceeded" of EIP-1474. */
const rejectionCodes: ReadonlySet<number | null> = new Set([429, -32_001, -32_002, -32_005])

/** Words of nodes that cannot answer now, or lack the requested state. */
const unableWords =
  /rate.?limit|too many|throttl|quota|capacity|compute units|time(d )?.?out|missing trie node|(header|block|state)\b.{0,160} not (found|available)|unknown block|pruned|historical|archive/i

/**
 * Decides whether the token or the node caused a JSON-RPC error. Error texts are not standardized, so most are
 * `unclear`; then a call that cannot fail shows whether the node works.
 */
export function classifyFault({ code, message }: Extract<RpcOutcome, { ok: false }>): 'token' | 'node' | 'unclear' {
  if (code === 3 || code === -32_015 || revertWords.test(message)) return 'token'
  return rejectionCodes.has(code) || unableWords.test(message) ? 'node' : 'unclear'
}

const symbolSelector = '0x95d89b41'
const decimalsSelector = '0x313ce567'
/** Limits the work and the answer of a hostile token; an honest one needs less than a hundredth. */
const gasLimit = '0x4c4b40'
/** A precompiled contract that returns its input: this call cannot fail on a working node. */
const identityContract = '0x0000000000000000000000000000000000000004'
/** The checks of an unclear failure before the token counts as its cause. */
const maxFailureChecks = 3
/** Anybody can pay in new tokens, so the cache is limited; the oldest entry is dropped first. */
const maxEntries = 10_000

export type TokenMetadata = ReturnType<typeof createTokenMetadata>

interface Entry {
  readonly facts: TokenFacts
  /** The last block for which the facts are valid. */
  readonly validUpTo: number
}

/** Caches the answers of contracts. An address without code is read again for later blocks, where it may have code. */
export function createTokenMetadata(native: TokenFacts) {
  const entries = new Map<string, Entry>()
  return {
    /**
     * Reads a token, unless it is cached. A token that does not answer has no symbol and 0 decimals.
     * @param height - The last block of the range; a node with a lower head is not trusted.
     * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node does not answer.
     */
    async read(chain: ExpectedChain, address: string, height: number): Promise<TokenFacts> {
      if (address === native.address) return native
      const cached = entries.get(address)
      if (cached !== undefined && height <= cached.validUpTo) return cached.facts
      const entry = await readToken(chain, address, height)
      const [oldest] = entries.keys()
      if (entries.size >= maxEntries && oldest !== undefined) entries.delete(oldest)
      entries.set(address, entry)
      return entry.facts
    },
  }
}

async function readToken(chain: ExpectedChain, address: string, height: number): Promise<Entry> {
  const { fail } = chain
  const calls = [buildHeaderCall('latest'), ...buildTokenCalls(address, 'latest')]
  const [head, symbol, decimals] = await callToken(chain, calls)
  const newest = parseHeader(getResult(fail, 'eth_getBlockByNumber', head), fail)?.number ?? -1
  if (newest < height) throw fail.unavailable(`the node's newest block is below ${height}, the end of the range.`)
  if (isAnswer(symbol) && isAnswer(decimals))
    return { facts: toFacts(address, symbol.result, decimals.result), validUpTo: Number.POSITIVE_INFINITY }
  // A fault of the contract recurs each time; a fault of the node may not.
  let check = await recheck(chain, address, newest)
  for (let checks = 1; !check.isClear && checks < maxFailureChecks; checks++)
    check = await recheck(chain, address, newest)
  return check.entry
}

/**
 * Repeats the calls at a fixed height, which a lagging node behind a gateway does not have. Also reads the contract's
 * code, and makes a call that cannot fail.
 */
async function recheck(chain: ExpectedChain, address: string, height: number) {
  const { fail } = chain
  const block = formatQuantity(height)
  const getCode = { method: 'eth_getCode', params: [address, block] }
  const calls = [getCode, buildCall(identityContract, symbolSelector, block), ...buildTokenCalls(address, block)]
  const [codeOutcome, probe, symbol, decimals] = await callToken(chain, calls)
  const code = getResult(fail, 'eth_getCode', codeOutcome)
  if (!isHex(code)) throw fail.unavailable('eth_getCode: the answer is not hex.')
  const entry: Entry = {
    facts: toFacts(address, getBytes(fail, symbol, probe), getBytes(fail, decimals, probe)),
    validUpTo: code === '0x' ? height : Number.POSITIVE_INFINITY,
  }
  const isClear = ![symbol, decimals].some((outcome) => outcome?.ok === false && classifyFault(outcome) === 'unclear')
  return { entry, isClear }
}

/** The bytes that a token answered; none if its code failed. After an unclear failure, the probe decides. */
function getBytes(fail: Failures, outcome: RpcOutcome | undefined, probe: RpcOutcome | undefined): string {
  const fault = outcome?.ok === false ? classifyFault(outcome) : null
  if (fault === 'token' || (fault === 'unclear' && probe?.ok)) return '0x'
  const answer = getResult(fail, 'eth_call', outcome)
  if (!isHex(answer)) throw fail.unavailable('eth_call did not answer hex.')
  return answer
}

/**
 * Sends calls as `askWithChainId` does. When the answer is too large, sends each call alone; a call counts as failed if
 * its own answer is too large.
 */
async function callToken(chain: ExpectedChain, calls: readonly RpcCall[]): Promise<RpcOutcome[]> {
  try {
    return await askWithChainId(chain, calls)
  } catch (error) {
    if (!(error instanceof ResultTooLargeError)) throw error
    if (calls.length === 1) return [{ ok: false, code: null, message: 'the answer is too large' }]
  }
  const outcomes: RpcOutcome[] = []
  for (const call of calls) outcomes.push(...(await callToken(chain, [call])))
  return outcomes
}

function buildCall(to: string, data: string, block: string): RpcCall {
  return { method: 'eth_call', params: [{ to, data, gas: gasLimit }, block] }
}

function buildTokenCalls(address: string, block: string): RpcCall[] {
  return [symbolSelector, decimalsSelector].map((selector) => buildCall(address, selector, block))
}

/** Only the token's own code answers bytes; an empty answer or an error may be the node's. */
function isAnswer(outcome: RpcOutcome | undefined): outcome is { ok: true; result: string } {
  return outcome?.ok === true && isHex(outcome.result) && outcome.result !== '0x'
}

function toFacts(address: string, symbol: string, decimals: string): TokenFacts {
  return { address, symbol: parseSymbol(symbol), decimals: parseDecimals(decimals) }
}
