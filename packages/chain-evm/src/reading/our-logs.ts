/** Collects our logs of a block, receipt by receipt. @module */
import type { BlockRef } from '@payment-integration/core/ports'
import type { ReceiptFacts, ReceiptLog } from '../internal/answers.js'
import type { RangeReader } from '../range-reader.js'
import type { RouterLog } from '../router-decoder.js'

/** Our logs of a block, and the receipts that hold them. */
export interface ProvenLogs {
  /** Logs of listed routers with a topic that counts, by log index. */
  readonly logs: readonly RouterLog[]
  readonly receipts: readonly ReceiptFacts[]
}

/** Collects them in the order of the block. */
export interface OurLogs extends ProvenLogs {
  /**
   * Adds the next receipt.
   * @param logCount - How many logs it holds.
   * @param facts - Null when it holds none of a listed router.
   */
  add(logCount: number, facts: ReceiptFacts | null): void
}

/** Starts with the first receipt of a block. Log indexes are counted from that receipt. */
export function createOurLogs(reader: RangeReader, ref: BlockRef): OurLogs {
  const logs: RouterLog[] = []
  const receipts: ReceiptFacts[] = []
  let logIndex = 0
  return {
    logs,
    receipts,
    add(logCount, facts) {
      const first = logIndex
      const before = logs.length
      logIndex += logCount
      for (const [index, log] of facts?.logs.entries() ?? [])
        if (facts !== null && isOurs(reader, log)) logs.push(routerLog(ref, facts.hash, first + index, log))
      if (facts !== null && logs.length > before) receipts.push(facts)
    },
  }
}

/** Whether a log is of a listed router, with a topic that counts. */
function isOurs({ routers, decoder }: RangeReader, { address, topics: [topic = ''] }: ReceiptLog): boolean {
  return routers.has(address) && (decoder.paymentTopics.includes(topic) || decoder.conversionTopics.includes(topic))
}

/** A log with its position in the block. */
function routerLog(
  { number, hash, timestamp }: BlockRef,
  txHash: string,
  logIndex: number,
  { address, topics, data }: ReceiptLog,
): RouterLog {
  return {
    address,
    topics,
    data,
    blockNumber: number,
    blockHash: hash,
    txHash,
    txIndex: null,
    logIndex,
    blockTimestamp: timestamp,
  }
}
