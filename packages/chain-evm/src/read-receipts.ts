/** Receipts of transactions, each held against the block that its logs came from. @module */
import { type LoggedPayment, needsReceipt } from './delivery.js'
import { type ReceiptFacts, readReceipt } from './internal/answers.js'
import type { RangeReader } from './range-reader.js'

const method = 'eth_getTransactionReceipt'

/**
 * The receipt of a transaction.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when it is not in the block any more; `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readOneReceipt(
  reader: RangeReader,
  hash: string,
  blockHash: string,
  signal?: AbortSignal,
): Promise<ReceiptFacts> {
  return receiptOf(reader, hash, [blockHash], await reader.rpc.call({ method, params: [hash] }, signal))
}

/** The receipts, by transaction, of the payments that their events do not prove. */
export async function readProofs(
  reader: RangeReader,
  groups: readonly (readonly [string, { readonly payments: readonly LoggedPayment[] }])[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, ReceiptFacts>> {
  const needed = groups.filter(([, { payments }]) => payments.some(needsReceipt))
  const answers = await reader.rpc.all(
    needed.map(([hash]) => ({ method, params: [hash] })),
    signal,
  )
  return new Map(
    needed.map(([txHash, { payments }], index) => {
      const blockHashes = payments.map(({ log }) => log.blockHash)
      return [txHash, receiptOf(reader, txHash, blockHashes, answers[index])]
    }),
  )
}

function receiptOf(reader: RangeReader, hash: string, blockHashes: readonly string[], answer: unknown): ReceiptFacts {
  const receipt = readReceipt(answer, reader.fail)
  assertSameBlock('receipt', hash, blockHashes, receipt, reader)
  return receipt
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
