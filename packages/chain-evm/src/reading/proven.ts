/**
 * Reads blocks so that no payment can be missing. Source: docs/decisions/completeness.md.
 *
 * Near the head, one batch asks for header and receipts of each block. Further back, each header's log filter decides
 * whether the block's receipts are read. Receipts count only when they lead to the root in the header.
 * A whole range comes from one endpoint.
 * @module
 */
import type { BlockRange, BlockRef } from '@payment-integration/core/ports'
import type { ReceiptFacts } from '../internal/answers.js'
import type { RangeReader } from '../range-reader.js'
import { readTransactions } from '../read-transactions.js'
import type { RouterLog } from '../router-decoder.js'
import { readBlockReceipts, readByTransaction, receiptsCall, receiptsIn } from './block-receipts.js'
import { readCandidates } from './candidates.js'
import { type RangeFacts, readFacts } from './facts.js'
import { assertAuthentic } from './header-kind.js'
import { assertChain, type Header, headerCall, readHeaders, toHeader } from './headers.js'
import { askOwnChain } from './own-chain.js'
import { proveBlock } from './prove-block.js'
import { byBlock, goesByBlock } from './receipts-by-block.js'

/** Transactions whose receipts are held as the node answered them, at a time: a few megabytes. */
const transactionsPerStep = 400
/** Blocks near the head that are asked for at a time, when it is not known yet how much they hold. */
const blocksPerStep = 8

/** Logs and receipts found so far. */
interface Found {
  readonly logs: RouterLog[]
  readonly receipts: Map<string, ReceiptFacts>
}

/**
 * Reads every block from `from` to `to` with its receipts.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE`, `ERR_CHAIN_PROOF_FAILED`, `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readByRoot(
  reader: RangeReader,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<BlockRange> {
  const headers: Header[] = []
  const found: Found = { logs: [], receipts: new Map() }
  for (let start = from; start <= to; start += blocksPerStep) {
    const end = Math.min(to, start + blocksPerStep - 1)
    headers.push(...(await readTogether(reader, start, end, found, signal)))
  }
  assertChain(headers, reader.fail)
  const facts = await readPayments(reader, headers, found, signal)
  return toRange(reader, headers, facts, 'root')
}

/** Header and receipts of each block, in one batch; what the node cannot answer so is asked for by transaction. */
async function readTogether(
  reader: RangeReader,
  from: number,
  to: number,
  found: Found,
  signal?: AbortSignal,
): Promise<Header[]> {
  const heights = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const together = goesByBlock(reader.rpc, heights.length)
  const calls = heights.flatMap((height) =>
    together ? [headerCall(height), receiptsCall(height)] : [headerCall(height)],
  )
  const ask = () => askOwnChain(reader, calls, signal)
  const outcomes = await (together ? byBlock(reader.rpc, heights.length, ask) : ask())
  const headers = heights.map((height, index) => toHeader(reader, height, outcomes[together ? index * 2 : index]))
  assertAuthentic(reader, headers)
  for (const [index, header] of headers.entries()) {
    const answered = together ? receiptsIn(reader, outcomes[index * 2 + 1]) : null
    add(found, proveBlock(reader, header, answered ?? (await readByTransaction(reader, header, signal))))
  }
  return headers
}

/**
 * Reads blocks from `from` on by their log filters, up to `to` or to the end of a range. A range ends before its
 * candidate blocks hold more than `mostTransactions`.
 * @returns The range, and the number of transactions in its candidate blocks.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE`, `ERR_CHAIN_PROOF_FAILED`, `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readByBloom(
  reader: RangeReader,
  from: number,
  to: number,
  mostTransactions: number,
  signal?: AbortSignal,
): Promise<{ readonly range: BlockRange; readonly transactions: number }> {
  const all = await readHeaders(reader, from, to, signal)
  const { headers, candidates } = await readCandidates(reader, all, mostTransactions, signal)
  const facts: RangeFacts = { payments: [], deposits: [] }
  for (const step of inSteps(candidates)) {
    // Each step is read to its end: nothing is held of it but the facts.
    const found: Found = { logs: [], receipts: new Map() }
    const receipts = await readBlockReceipts(reader, step, signal)
    for (const [index, header] of step.entries()) add(found, proveBlock(reader, header, receipts[index] ?? []))
    const { payments, deposits } = await readPayments(reader, headers, found, signal)
    for (const payment of payments) facts.payments.push(payment)
    for (const deposit of deposits) facts.deposits.push(deposit)
  }
  const transactions = candidates.reduce((sum, header) => sum + sizeOf(header), 0)
  return { range: toRange(reader, headers, facts, 'bloom'), transactions }
}

function sizeOf({ transactions }: Header): number {
  return transactions?.length ?? 1
}

function* inSteps(headers: readonly Header[]): Generator<Header[]> {
  let step: Header[] = []
  let size = 0
  for (const header of headers) {
    const count = sizeOf(header)
    if (step.length > 0 && size + count > transactionsPerStep) {
      yield step
      step = []
      size = 0
    }
    step.push(header)
    size += count
  }
  if (step.length > 0) yield step
}

function add(found: Found, { logs, receipts }: ReturnType<typeof proveBlock>): void {
  found.logs.push(...logs)
  for (const receipt of receipts) found.receipts.set(receipt.hash, receipt)
}

/** The facts of payments that were found in some blocks of a range. */
async function readPayments(
  reader: RangeReader,
  headers: readonly Header[],
  { logs, receipts }: Found,
  signal?: AbortSignal,
): Promise<RangeFacts> {
  const { first, last } = endsOf(reader, headers)
  const held = {
    receipts,
    sizeOf: (height: number) => headers[height - first.number]?.transactions?.length ?? null,
  }
  const transactions = await readTransactions(reader, logs, held, signal)
  return readFacts(reader, transactions, (log) => log.blockTimestamp ?? 0, last.number, signal)
}

function toRange(
  reader: RangeReader,
  headers: readonly Header[],
  facts: RangeFacts,
  proof: 'root' | 'bloom',
): BlockRange {
  const { first, last } = endsOf(reader, headers)
  return { first, last, blocks: headers.map(({ ref }) => ref), ...facts, proof, endpoint: reader.endpoint.name }
}

function endsOf(
  { fail }: RangeReader,
  headers: readonly Header[],
): { readonly first: BlockRef; readonly last: BlockRef } {
  const first = headers[0]?.ref
  const last = headers.at(-1)?.ref
  if (first === undefined || last === undefined) throw fail.unavailable('eth_getBlockByNumber: no answer.')
  return { first, last }
}
