/** Receipts of transactions, each held against the block that its logs came from. @module */
import type { TransactionLogs } from './group-logs.js'
import { type ReceiptFacts, readReceipt } from './internal/answers.js'
import type { RangeReader } from './range-reader.js'

/**
 * The receipts of transactions, by hash.
 * @param held - Those in hand; they are not asked for.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when one is not in the block any more; `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readReceipts(
  reader: RangeReader,
  groups: readonly TransactionLogs[],
  held: ReadonlyMap<string, ReceiptFacts>,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, ReceiptFacts>> {
  const missing = groups.filter(({ txHash }) => !held.has(txHash))
  if (missing.length === 0) return held
  const answers = await reader.rpc.all(
    missing.map(({ txHash }) => ({ method: 'eth_getTransactionReceipt', params: [txHash] })),
    signal,
  )
  const all = new Map(held)
  for (const [index, { txHash, payments }] of missing.entries()) {
    const receipt = readReceipt(answers[index], reader.fail)
    const blockHashes = payments.map(({ log }) => log.blockHash)
    assertSameBlock('receipt', txHash, blockHashes, receipt, reader)
    all.set(txHash, receipt)
  }
  return all
}

/** An answer for another hash means that a batch came back mixed up; another block means that the chain moved. */
export function assertSameBlock<T extends { readonly hash: string; readonly blockHash: string }>(
  what: string,
  txHash: string,
  blockHashes: readonly string[],
  answer: T | null,
  { fail }: RangeReader,
): asserts answer is T {
  if (answer === null) throw fail.gone(`the node has no ${what} ${txHash} in a block any more.`)
  if (answer.hash !== txHash) throw fail.unavailable(`${what} ${answer.hash} was answered for ${txHash}.`)
  if (blockHashes.some((blockHash) => blockHash !== answer.blockHash))
    throw fail.gone(`${what} ${txHash} is not in the block its logs came from.`)
}
