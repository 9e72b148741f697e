/** Reads all receipts of blocks, as the node answers them. @module */
import { blockTransactions } from '../internal/answers.js'
import { describeRpcError } from '../internal/failures.js'
import { quantity } from '../internal/hex.js'
import type { RpcCall, RpcOutcome } from '../internal/json-rpc.js'
import type { RangeReader } from '../range-reader.js'
import type { AnsweredBlock, BlockReceipts } from './block-contents.js'
import { blockCall, type Header } from './headers.js'
import { asksRaw, provenRaw, rawReceiptsCall, stopRaw, tryRaw } from './raw-receipts.js'
import { byBlock, goesByBlock, hasNone } from './receipts-by-block.js'

/** The code of a method that a node does not have. */
const noSuchMethod = -32_601

/** The call for all receipts of a height, raw from a node that has them so. */
export function receiptsCall(number: number, isRaw: boolean): RpcCall {
  return isRaw ? rawReceiptsCall(number) : { method: 'eth_getBlockReceipts', params: [quantity(number)] }
}

/**
 * The receipts in an answer; null when the node cannot be asked this way, and each receipt is to be asked for instead.
 * Only a node's "no such method" is remembered, and raw receipts that failed or are not proven.
 */
export function receiptsIn(
  reader: RangeReader,
  header: Header,
  outcome: RpcOutcome | undefined,
  isRaw: boolean,
): BlockReceipts | null {
  const { rpc } = reader
  if (outcome === undefined) return null
  if (isRaw) {
    const raw = outcome.ok ? provenRaw(reader, header, outcome.result) : null
    if (raw === null) stopRaw(rpc)
    return raw && { raw }
  }
  if (!outcome.ok) {
    if (outcome.code === noSuchMethod) hasNone(rpc)
    return null
  }
  const { result } = outcome
  return Array.isArray(result) ? result : null
}

/**
 * All receipts of each block, in order.
 * @param whole - Whether the transactions are read along with them.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE`; `ERR_CHAIN_RANGE_GONE` when a receipt is missing.
 */
export async function readBlockReceipts(
  reader: RangeReader,
  headers: readonly Header[],
  whole: boolean,
  signal?: AbortSignal,
): Promise<readonly AnsweredBlock[]> {
  const { rpc, fail } = reader
  const together = goesByBlock(rpc, headers.length)
  const isRaw = asksRaw(rpc)
  const calls = headers.flatMap(({ ref }) => [
    ...(whole ? [blockCall(ref.number)] : []),
    ...(together ? [receiptsCall(ref.number, isRaw)] : []),
  ])
  const ask = () => rpc.askAll(calls, signal)
  const outcomes = await (together ? byBlock(rpc, headers.length, ask) : ask())
  let next = 0
  const all: AnsweredBlock[] = []
  for (const header of headers) {
    const block = whole ? outcomes[next++] : undefined
    const answered = together ? receiptsIn(reader, header, outcomes[next++], isRaw) : null
    const receipts = answered ?? (await readByTransaction(reader, header, signal))
    all.push({ header, receipts, transactions: block?.ok ? blockTransactions(block.result, fail) : null })
  }
  if (together) await tryRaw(reader, headers, signal)
  return all
}

/** The receipts of a block, by a request for nothing else. */
export async function readAlone(
  reader: RangeReader,
  header: Header,
  signal?: AbortSignal,
): Promise<readonly unknown[]> {
  const answer = await reader.rpc.call(receiptsCall(header.ref.number, false), signal)
  return Array.isArray(answer) ? answer : []
}

/** The receipts of a block, each by its transaction. */
export async function readByTransaction(
  { rpc, fail }: RangeReader,
  { ref, transactions }: Header,
  signal?: AbortSignal,
): Promise<readonly unknown[]> {
  if (transactions === null) throw fail.unavailable(`block ${ref.number} was answered without its transactions.`)
  if (transactions.length === 0) return []
  const outcomes = await rpc.askAll(
    transactions.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    signal,
  )
  return transactions.map((hash, index) => {
    const outcome = outcomes[index]
    if (!outcome?.ok) throw fail.unavailable(`eth_getTransactionReceipt: ${describeRpcError(outcome)}.`)
    if (outcome.result === null) throw fail.gone(`receipt ${hash} is not in block ${ref.number}.`)
    return outcome.result
  })
}
