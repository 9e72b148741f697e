/** Reads all receipts of blocks: raw, by block or by transaction, as the node allows. @module */
import { computeRawListRoot, minItemBytes } from '../proof/prover.js'
import { parseRawReceipt, type RawReceipt } from '../proof/receipts.js'
import { MalformedRlpError } from '../proof/rlp.js'
import { parseBlockTransactions } from '../rpc/answers.js'
import { askWithChainId } from '../rpc/chain-guard.js'
import { isRateLimit, isUnavailable } from '../rpc/failures.js'
import { formatQuantity, isHex } from '../rpc/hex.js'
import type { Rpc, RpcCall, RpcOutcome } from '../rpc/json-rpc.js'
import { buildBlockCall, buildHeaderCall, buildReceiptCall, getResult } from '../rpc/json-rpc.js'
import { assertAuthentic, type Header, type RangeReader, toHeader } from './range-reader.js'

/** The receipts of a block: unproven JSON, or raw receipts whose root is the one in the header. */
export type BlockReceipts = readonly unknown[] | { readonly raw: readonly RawReceipt[] }

export interface BlockWithReceipts {
  readonly header: Header
  readonly receipts: BlockReceipts
  /** Unparsed, by hash; null when the block was read without its transactions. */
  readonly transactions: ReadonlyMap<string, unknown> | null
}

// Raw receipts are the bytes that the receipts root covers, half the size of JSON. Each node is tried once.
// Source: docs/decisions/completeness.md.
//
// Some nodes lack `eth_getBlockReceipts`; some fail on a large block and on every batch that contains it. After
// repeated failures, receipts are read by transaction for a number of blocks, which doubles each time.

/** A node's methods for all receipts of a block, as far as known. */
interface ReceiptMethods {
  /** Whether the node has raw receipts; null while it is untried. */
  hasRaw: boolean | null
  /** Whether the node lacks `eth_getBlockReceipts`. */
  lacksByBlock: boolean
  /** Failures of requests for a single block, in a row. */
  failures: number
  /** Blocks still to be read by transaction. */
  pausedBlocks: number
  nextPauseBlocks: number
  /** Blocks read since the last failure, or since the pause was last halved. */
  blocksRead: number
}

/** Failures in a row that start the first pause: most outages have ended by then. */
const maxFailures = 3
const pauseBlocks = { first: 16, max: 1_024 } as const

const methodsOfNodes = new WeakMap<Rpc, ReceiptMethods>()

function getMethods(rpc: Rpc): ReceiptMethods {
  let methods = methodsOfNodes.get(rpc)
  if (methods === undefined) {
    const counts = { failures: 0, pausedBlocks: 0, nextPauseBlocks: pauseBlocks.first, blocksRead: 0 }
    methods = { hasRaw: null, lacksByBlock: false, ...counts }
    methodsOfNodes.set(rpc, methods)
  }
  return methods
}

/** Asks an untried node for the raw receipts of the first block that has transactions. */
async function probeRawReceipts(reader: RangeReader, headers: readonly Header[]): Promise<void> {
  const { rawReceipts, signal } = reader
  const { rpc } = reader.node
  const methods = getMethods(rpc)
  if (!rawReceipts || methods.hasRaw !== null) return
  const header = headers.find(({ transactions }) => transactions !== null && transactions.length > 0)
  if (header === undefined) return
  // Set before the request, so that parallel ranges do not probe the node too.
  methods.hasRaw = false
  try {
    const [outcome] = await rpc.askAll([buildReceiptsCall(header.ref.number, true)], signal)
    methods.hasRaw = outcome?.ok === true && parseProvenRaw(header, outcome.result) !== null
  } catch (error) {
    // A rate limit or an abort shows nothing about the method: the node is probed again later.
    if (isRateLimit(error) || signal?.aborted) methods.hasRaw = null
    if (!isUnavailable(error)) throw error
  }
}

/** The raw receipts in an answer; null when malformed, or when their root is not the header's. */
function parseProvenRaw({ transactions, receiptsRoot }: Header, answer: unknown): readonly RawReceipt[] | null {
  if (!Array.isArray(answer) || answer.length !== transactions?.length) return null
  const all: Buffer[] = []
  for (const text of answer) {
    if (!isHex(text)) return null
    const bytes = Buffer.from(text.slice(2), 'hex')
    if (bytes.length < minItemBytes) return null
    all.push(bytes)
  }
  if (computeRawListRoot(all) !== receiptsRoot) return null
  try {
    return all.map(parseRawReceipt)
  } catch (error) {
    if (error instanceof MalformedRlpError) return null
    throw error
  }
}

/** Whether the next `blocks` blocks are read by block; if not, they count towards the end of the pause. */
export function admitReadByBlock(rpc: Rpc, blocks: number): boolean {
  const methods = getMethods(rpc)
  if (methods.lacksByBlock) return false
  if (methods.pausedBlocks === 0) return true
  methods.pausedBlocks = Math.max(0, methods.pausedBlocks - blocks)
  return false
}

/** Runs a request for receipts by block, and records its success or failure for later requests. */
export async function runByBlock<T>(rpc: Rpc, blocks: number, ask: () => Promise<T>): Promise<T> {
  const methods = getMethods(rpc)
  try {
    const answer = await ask()
    noteSuccess(methods, blocks)
    return answer
  } catch (error) {
    // A failed request for several blocks is repeated with fewer, so it shows nothing about the method.
    if (blocks === 1 && isUnavailable(error) && !isRateLimit(error)) {
      // The raw method may be the cause, so JSON by block is tried before JSON by transaction.
      if (methods.hasRaw) methods.hasRaw = false
      else noteFailure(methods)
    }
    throw error
  }
}

/** Halves the next pause after as many successful blocks as the pause has: a node may fail only on large blocks. */
function noteSuccess(methods: ReceiptMethods, blocks: number): void {
  // A request for several blocks that succeeds cannot contain the block that failed alone.
  if (blocks === 1) methods.failures = 0
  methods.blocksRead += blocks
  if (methods.blocksRead < methods.nextPauseBlocks) return
  methods.blocksRead = 0
  methods.nextPauseBlocks = Math.max(pauseBlocks.first, methods.nextPauseBlocks / 2)
}

function noteFailure(methods: ReceiptMethods): void {
  methods.failures += 1
  methods.blocksRead = 0
  // After a recent pause, a single failure starts the next one.
  if (methods.failures < maxFailures && methods.nextPauseBlocks === pauseBlocks.first) return
  methods.failures = 0
  methods.pausedBlocks = methods.nextPauseBlocks
  methods.nextPauseBlocks = Math.min(methods.nextPauseBlocks * 2, pauseBlocks.max)
}

/** JSON-RPC: method not found. */
const methodNotFoundCode = -32_601

function buildReceiptsCall(number: number, isRaw: boolean): RpcCall {
  return { method: isRaw ? 'debug_getRawReceipts' : 'eth_getBlockReceipts', params: [formatQuantity(number)] }
}

/** Parses receipts answered by block, and notes an unsupported method; null: they must be read by transaction. */
function toBlockReceipts(reader: RangeReader, header: Header, outcome: RpcOutcome | undefined, isRaw: boolean) {
  if (outcome === undefined) return null
  const methods = getMethods(reader.node.rpc)
  if (isRaw) {
    const raw = outcome.ok ? parseProvenRaw(header, outcome.result) : null
    if (raw === null) methods.hasRaw = false
    return raw && { raw }
  }
  if (outcome.ok) return Array.isArray(outcome.result) ? outcome.result : null
  if (outcome.code === methodNotFoundCode) methods.lacksByBlock = true
  return null
}

/** Asks for the receipts of heights and, if `buildCall` is not null, for their blocks. */
async function askForHeights(
  reader: RangeReader,
  heights: readonly number[],
  buildCall: ((height: number) => RpcCall) | null,
  withChainId: boolean,
) {
  const { rpc } = reader.node
  const isByBlock = admitReadByBlock(rpc, heights.length)
  const isRaw = getMethods(rpc).hasRaw === true
  const calls = heights.flatMap((height) => [
    ...(buildCall === null ? [] : [buildCall(height)]),
    ...(isByBlock ? [buildReceiptsCall(height, isRaw)] : []),
  ])
  const ask = () => (withChainId ? askWithChainId(reader, calls) : rpc.askAll(calls, reader.signal))
  const outcomes = await (isByBlock ? runByBlock(rpc, heights.length, ask) : ask())
  let next = 0
  return heights.map(() => ({
    block: buildCall === null ? undefined : outcomes[next++],
    receipts: isByBlock ? outcomes[next++] : undefined,
    isRaw,
  }))
}

/** Reads by transaction the receipts that were not answered by block. */
async function completeBlocks(
  reader: RangeReader,
  headers: readonly Header[],
  answers: Awaited<ReturnType<typeof askForHeights>>,
  withTransactions: boolean,
): Promise<readonly BlockWithReceipts[]> {
  const blocks: BlockWithReceipts[] = []
  for (const [index, header] of headers.entries()) {
    const { block, receipts: outcome, isRaw = false } = answers[index] ?? {}
    const transactions = withTransactions && block?.ok ? parseBlockTransactions(block.result, reader.fail) : null
    const byBlock = toBlockReceipts(reader, header, outcome, isRaw)
    blocks.push({ header, receipts: byBlock ?? (await readByTransaction(reader, header)), transactions })
  }
  if (answers.some(({ receipts }) => receipts !== undefined)) await probeRawReceipts(reader, headers)
  return blocks
}

/** Reads all receipts of blocks, in order. @throws ChainError `ERR_CHAIN_RANGE_GONE` when a receipt is missing. */
export async function readBlockReceipts(
  reader: RangeReader,
  headers: readonly Header[],
  withTransactions: boolean,
): Promise<readonly BlockWithReceipts[]> {
  const heights = headers.map(({ ref }) => ref.number)
  const answers = await askForHeights(reader, heights, withTransactions ? buildBlockCall : null, false)
  return completeBlocks(reader, headers, answers, withTransactions)
}

/** Reads the receipts of one block as JSON, in a request of its own. */
export async function readReceiptsInOneCall(reader: RangeReader, { ref }: Header): Promise<readonly unknown[]> {
  const answer = await reader.node.rpc.call(buildReceiptsCall(ref.number, false), reader.signal)
  return Array.isArray(answer) ? answer : []
}

/** Reads each receipt of a block by its transaction's hash. */
export async function readByTransaction(
  { node, fail, signal }: RangeReader,
  { ref, transactions }: Header,
): Promise<readonly unknown[]> {
  if (transactions === null) throw fail.unavailable(`block ${ref.number} was answered without its transactions.`)
  if (transactions.length === 0) return []
  const calls = transactions.map(buildReceiptCall)
  const outcomes = await node.rpc.askAll(calls, signal)
  return transactions.map((hash, index) => {
    const receipt = getResult(fail, 'eth_getTransactionReceipt', outcomes[index])
    if (receipt === null) throw fail.noBlock(`transaction ${hash} has no receipt in block ${ref.number}.`)
    return receipt
  })
}

/**
 * Reads blocks `from` to `to`, both included, with their receipts.
 * @param contents - `withTransactions`: whether the transactions are read too. `withChainId`: whether the chain id is
 * asked for; a request that continues an earlier one need not ask.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block is missing; `ERR_CHAIN_PROOF_FAILED` on a forged header.
 */
export async function readBlocks(
  reader: RangeReader,
  from: number,
  to: number,
  { withTransactions, withChainId }: { readonly withTransactions: boolean; readonly withChainId: boolean },
): Promise<readonly BlockWithReceipts[]> {
  const heights = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const buildCall = withTransactions ? buildBlockCall : buildHeaderCall
  const answers = await askForHeights(reader, heights, buildCall, withChainId)
  const headers = heights.map((height, index) => toHeader(reader, height, answers[index]?.block))
  assertAuthentic(reader, headers)
  return completeBlocks(reader, headers, answers, withTransactions)
}
