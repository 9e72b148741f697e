/**
 * Reads blocks near the head: header and receipts of each, in one batch. Source: docs/decisions/completeness.md.
 * Receipts count only when they lead to the root in the header. A whole range comes from one endpoint.
 * @module
 */
import type { RangeReader } from '../range-reader.js'
import { isReadWhole } from '../read-calls.js'
import { readAnsweredBlocks } from './answered-blocks.js'
import type { CountedRange } from './by-bloom.js'
import { createFound, toRange } from './found.js'
import { assertChain, type Header } from './headers.js'

/** Blocks that are asked for at a time, when it is not known yet how much they hold. */
const blocksPerStep = 8

/**
 * Reads every block from `from` to `to` with its receipts.
 * @param whole - Whether the transactions of each block are read along with it.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE`, `ERR_CHAIN_PROOF_FAILED`, `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readByRoot(
  reader: RangeReader,
  from: number,
  to: number,
  whole: boolean,
  signal?: AbortSignal,
): Promise<CountedRange> {
  const headers: Header[] = []
  const found = createFound(reader)
  let paying = 0
  for (let start = from; start <= to; start += blocksPerStep) {
    const end = Math.min(to, start + blocksPerStep - 1)
    for (const block of await readAnsweredBlocks(reader, start, end, { whole, chainId: true }, signal)) {
      headers.push(block.header)
      if (isReadWhole(await found.add(block, signal), block.header.transactions?.length ?? 1)) paying += 1
    }
  }
  assertChain(headers, reader.fail)
  const range = toRange(reader, headers, await found.readPayments(to, signal), 'root')
  return { range, candidates: headers.length, paying, transactions: 0 }
}
