/**
 * Checks an empty answer against the header. Source: docs/decisions/completeness.md.
 *
 * Each end of a range without payment logs is compared with its header's log filter. If the filter reports some, the
 * receipts of the block decide. If it is too full, `eth_getLogs` by block hash decides: nodes answer that from the
 * block, not from an index.
 * @module
 */
import { type ReceiptLog, readLogs, readReceipt } from './internal/answers.js'
import type { RangeReader } from './range-reader.js'
import { readByTransaction } from './reading/block-receipts.js'
import type { Header } from './reading/headers.js'
import { askOwnChain } from './reading/own-chain.js'
import type { RouterLog } from './router-decoder.js'

/**
 * Checks the ends of a range without logs.
 * @param logs - The payment logs of the whole range, of listed routers only.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when logs were left out, or when the node does not answer the check.
 * `ERR_CHAIN_RANGE_GONE` when the block is gone.
 */
export async function checkEmptyEnds(
  reader: RangeReader,
  ends: readonly Header[],
  logs: readonly RouterLog[],
  signal?: AbortSignal,
): Promise<void> {
  for (const end of ends) {
    const { ref, logsBloom } = end
    if (logsBloom === null || logs.some(({ blockNumber }) => blockNumber === ref.number)) continue
    const said = reader.filter(logsBloom)
    if (said !== 'no' && (await hasLogs(reader, end, said === 'likely', signal)))
      throw reader.fail.unavailable(
        `eth_getLogs left out the logs of block ${ref.number}; it is asked again. If this repeats, the node's index is broken.`,
      )
  }
}

async function hasLogs(reader: RangeReader, end: Header, likely: boolean, signal?: AbortSignal): Promise<boolean> {
  const { fail, routers, decoder } = reader
  if (!likely) {
    const filter = { blockHash: end.ref.hash, address: [...routers.keys()], topics: [decoder.paymentTopics] }
    const [outcome] = await askOwnChain(reader, [{ method: 'eth_getLogs', params: [filter] }], signal)
    // A node that does not know blocks by hash in this call, or not any more, still has receipts that decide.
    if (outcome?.ok) return readLogs(outcome.result, fail).some((log) => isPaymentLog(reader, log))
  }
  return inReceipts(reader, end, signal)
}

async function inReceipts(reader: RangeReader, end: Header, signal?: AbortSignal): Promise<boolean> {
  const { fail } = reader
  const { ref, transactions } = end
  const receipts = (await readByTransaction(reader, end, signal)).map((answer) => readReceipt(answer, fail))
  let found = false
  for (const [index, receipt] of receipts.entries()) {
    if (receipt === null || receipt.blockHash !== ref.hash)
      throw fail.gone(`receipt ${transactions?.[index]} is not in block ${ref.number}.`)
    if (receipt.hash !== transactions?.[index])
      throw fail.unavailable(`receipt ${receipt.hash} was answered for ${transactions?.[index]}.`)
    found ||= receipt.logs.some((log) => isPaymentLog(reader, log))
  }
  return found
}

function isPaymentLog({ routers, decoder }: RangeReader, { address, topics }: ReceiptLog): boolean {
  return routers.has(address) && decoder.paymentTopics.includes(topics[0] ?? '')
}
