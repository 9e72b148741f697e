/** Reads all receipts of blocks, as the node answers them. @module */
import { describeRpcError } from '../internal/failures.js'
import { quantity } from '../internal/hex.js'
import type { RpcCall, RpcOutcome } from '../internal/json-rpc.js'
import type { RangeReader } from '../range-reader.js'
import type { Header } from './headers.js'
import { byBlock, goesByBlock, hasNone } from './receipts-by-block.js'

/** The code of a method that a node does not have. */
const noSuchMethod = -32_601

/** The receipts of a block as the node answered them. */
export type BlockReceipts = readonly unknown[]

/** The call for all receipts of a height. */
export function receiptsCall(number: number): RpcCall {
  return { method: 'eth_getBlockReceipts', params: [quantity(number)] }
}

/**
 * The receipts in an answer; null when the node cannot be asked this way, and each receipt is to be asked for instead.
 * Only a node's "no such method" is remembered.
 */
export function receiptsIn({ rpc }: RangeReader, outcome: RpcOutcome | undefined): BlockReceipts | null {
  if (outcome === undefined) return null
  if (!outcome.ok) {
    if (outcome.code === noSuchMethod) hasNone(rpc)
    return null
  }
  const { result } = outcome
  return Array.isArray(result) ? result : null
}

/**
 * All receipts of each block, in order.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE`; `ERR_CHAIN_RANGE_GONE` when a receipt is missing.
 */
export async function readBlockReceipts(
  reader: RangeReader,
  headers: readonly Header[],
  signal?: AbortSignal,
): Promise<readonly BlockReceipts[]> {
  const found: (BlockReceipts | null)[] = goesByBlock(reader.rpc, headers.length)
    ? await askByBlock(reader, headers, signal)
    : headers.map(() => null)
  const all: BlockReceipts[] = []
  for (const [index, header] of headers.entries())
    all.push(found[index] ?? (await readByTransaction(reader, header, signal)))
  return all
}

async function askByBlock(reader: RangeReader, headers: readonly Header[], signal?: AbortSignal) {
  const { rpc } = reader
  const calls = headers.map((header) => receiptsCall(header.ref.number))
  const outcomes = await byBlock(rpc, headers.length, () => rpc.askAll(calls, signal))
  return headers.map((_, index) => receiptsIn(reader, outcomes[index]))
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
