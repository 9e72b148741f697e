/** Collects what proven blocks hold, and reads the facts of its payments. @module */
import type { BlockRange, BlockRef } from '@payment-integration/core/ports'
import type { ReceiptFacts } from '../internal/answers.js'
import type { RangeReader } from '../range-reader.js'
import { readTransactions } from '../read-transactions.js'
import type { RouterLog } from '../router-decoder.js'
import type { AnsweredBlock } from './block-contents.js'
import { readAlone, readByTransaction } from './block-receipts.js'
import { type RangeFacts, readFacts } from './facts.js'
import type { Header } from './headers.js'
import type { ProvenLogs } from './our-logs.js'
import { isUnproven, proveBlock } from './prove-block.js'

/** Blocks of a range that are proven, and their logs and receipts. */
export interface Found {
  /**
   * Proves the receipts of a block and keeps our logs of them.
   * @returns How many transactions hold logs of ours.
   * @throws As {@link proveBlock}.
   */
  add(block: AnsweredBlock, signal?: AbortSignal): Promise<number>
  /**
   * The facts of payments that were found.
   * @param height - The last block of the range, as far as it is known.
   */
  readPayments(height: number, signal?: AbortSignal): Promise<RangeFacts>
}

/** Starts without any block. */
export function createFound(reader: RangeReader): Found {
  const logs: RouterLog[] = []
  const receipts = new Map<string, ReceiptFacts>()
  const blocks = new Map<number, AnsweredBlock>()
  return {
    async add(block, signal) {
      const proven = await proveAnswered(reader, block, signal)
      if (proven.logs.length === 0) return 0
      logs.push(...proven.logs)
      for (const receipt of proven.receipts) receipts.set(receipt.hash, receipt)
      blocks.set(block.header.ref.number, block)
      return proven.receipts.length
    },
    async readPayments(height, signal) {
      const held = {
        receipts,
        sizeOf: (number: number) => blocks.get(number)?.header.transactions?.length ?? null,
        transactionsOf: (number: number) => blocks.get(number)?.transactions ?? null,
      }
      const transactions = await readTransactions(reader, logs, held, signal)
      return readFacts(reader, transactions, (log) => log.blockTimestamp ?? 0, height, signal)
    },
  }
}

/**
 * Proves a block. A node may cut one long answer and not the next, or not the receipt of a transaction. So where no
 * other endpoint would answer, a block that is not proven is asked for alone, and then by transaction.
 */
async function proveAnswered(
  reader: RangeReader,
  { header, receipts }: AnsweredBlock,
  signal?: AbortSignal,
): Promise<ProvenLogs> {
  try {
    return proveBlock(reader, header, receipts)
  } catch (error) {
    if (!isUnproven(error) || !reader.endpoint.isAlone()) throw error
    for (const ask of [readAlone, readByTransaction]) {
      try {
        return proveBlock(reader, header, await ask(reader, header, signal))
      } catch {
        signal?.throwIfAborted()
      }
    }
    throw error
  }
}

/** A range of proven blocks. */
export function toRange(
  { endpoint, fail }: RangeReader,
  headers: readonly Header[],
  facts: RangeFacts,
  proof: 'root' | 'bloom',
): BlockRange {
  const first: BlockRef | undefined = headers[0]?.ref
  const last = headers.at(-1)?.ref
  if (first === undefined || last === undefined) throw fail.unavailable('eth_getBlockByNumber: no answer.')
  return { first, last, blocks: headers.map(({ ref }) => ref), ...facts, proof, endpoint: endpoint.name }
}
