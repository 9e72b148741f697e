/** Finds the blocks that may hold a payment. Source: docs/decisions/completeness.md. @module */
import type { RangeReader } from '../range-reader.js'
import type { Header } from './headers.js'
import { logsCall, logsIn, withRangeSize } from './logs.js'
import { askOwnChain } from './own-chain.js'

/** Headers from the first on, and those of them whose blocks may hold a payment. */
export interface Candidates {
  readonly headers: readonly Header[]
  readonly candidates: readonly Header[]
}

/**
 * Tests the log filter of each header. A filter is trusted where headers hash to their blocks' hashes. Where none does,
 * the node's logs are compared with the filters, to notice a chain whose filters are always empty.
 * @param mostTransactions - Limit of transactions in candidates. The headers end before it, but after a first
 * candidate.
 * @throws ChainError `ERR_CHAIN_PROOF_FAILED` when a filter denies logs that the node has.
 */
export async function readCandidates(
  reader: RangeReader,
  all: readonly Header[],
  mostTransactions: number,
  signal?: AbortSignal,
): Promise<Candidates> {
  const { headers: kind } = reader
  const candidates: Header[] = []
  let transactions = 0
  let end = all.length
  for (const [index, header] of all.entries()) {
    if (!mayPay(reader, header)) continue
    transactions += header.transactions?.length ?? 1
    if (candidates.length > 0 && transactions > mostTransactions) {
      end = index
      break
    }
    candidates.push(header)
  }
  const headers = end === all.length ? all : all.slice(0, end)
  if (!kind.isKnown) await assertAdmitted(reader, headers, candidates, signal)
  return { headers, candidates }
}

/** Whether a block may hold a payment, by its header's log filter. */
export function mayPay({ filter }: RangeReader, { logsBloom, transactions }: Header): boolean {
  if (logsBloom === null) return transactions === null || transactions.length > 0
  return filter(logsBloom) !== 'no'
}

async function assertAdmitted(
  reader: RangeReader,
  headers: readonly Header[],
  candidates: readonly Header[],
  signal?: AbortSignal,
): Promise<void> {
  const { endpoint, fail, wanted, decoder } = reader
  const admitted = new Set(candidates.map(({ ref }) => ref.number))
  for (let start = 0; start < headers.length; ) {
    const first = headers[start]?.ref
    if (first === undefined) break
    const end = headers.at(-1)?.ref.number ?? first.number
    const { logs, upTo } = await withRangeSize(reader, first.number, end, async (height) => {
      const last = headers[height - first.number + start]?.ref ?? first
      const [outcome] = await askOwnChain(reader, [logsCall(reader, first.number, height)], signal)
      return { logs: logsIn(reader, first, last, outcome), upTo: height }
    })
    for (const { blockNumber, address, topics } of logs) {
      if (admitted.has(blockNumber) || wanted?.has(address) === false) continue
      if (!decoder.paymentTopics.includes(topics[0] ?? '')) continue
      const what = `the log filter of block ${blockNumber} denies a payment that eth_getLogs has`
      endpoint.note({ kind: 'proof-failed', what })
      throw fail.unproven(`${what}. On a chain whose filters are empty by nature, set its proof to none.`)
    }
    start += upTo - first.number + 1
  }
}
