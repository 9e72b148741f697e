/**
 * Proves the receipts of a block where they arrive, in the bytes of the answer: what is not ours never becomes an object.
 *
 * Only what is proven is taken. Whatever does not lead to the header is left to `prove-block.ts`, which says what is wrong with it.
 * @module
 */
import type { BlockRef } from '@payment-integration/core/ports'
import type { ReceiptFacts, ReceiptLog } from '../internal/answers.js'
import { isKey, type ResultReader } from '../internal/json-bytes.js'
import { unpackLogs } from '../proof/packed-logs.js'
import { type ScannedLog, type ScannedReceipt, scanReceipts } from '../proof/scan-receipts.js'
import type { RangeReader } from '../range-reader.js'
import type { RouterLog } from '../router-decoder.js'
import type { Header } from './headers.js'

/** What was found in a block. */
export interface ProvenLogs {
  /** Logs of listed routers with a topic that counts, by log index. */
  readonly logs: readonly RouterLog[]
  /** The receipts that hold them. */
  readonly receipts: readonly ReceiptFacts[]
}

/** A block whose receipts led to its header when they arrived. No answer of a node can be one. */
export class ProvenBlock implements ProvenLogs {
  readonly logs: readonly RouterLog[]
  readonly receipts: readonly ReceiptFacts[]
  readonly #header: Header

  constructor(header: Header, logs: readonly RouterLog[], receipts: readonly ReceiptFacts[]) {
    this.#header = header
    this.logs = logs
    this.receipts = receipts
  }

  /** Whether its receipts lead to this header too. */
  isOf({ ref, receiptsRoot }: Header): boolean {
    return ref.hash === this.#header.ref.hash && receiptsRoot === this.#header.receiptsRoot
  }
}

/** Whether a log is of a listed router, with a topic that counts. */
export function isOurs({ routers, decoder }: RangeReader, { address, topics: [topic = ''] }: ReceiptLog): boolean {
  return routers.has(address) && (decoder.paymentTopics.includes(topic) || decoder.conversionTopics.includes(topic))
}

/** A log with its place in the block. */
export function routerLog(
  { number, hash, timestamp }: BlockRef,
  txHash: string,
  logIndex: number,
  { address, topics, data }: ReceiptLog,
): RouterLog {
  return { address, topics, data, blockNumber: number, blockHash: hash, txHash, logIndex, blockTimestamp: timestamp }
}

/** Reads the answer for all receipts of a block: as a {@link ProvenBlock}, when they lead to the root in the header. */
export function provenReader(reader: RangeReader, header: Header): ResultReader {
  const { ref, transactions, receiptsRoot } = header
  const routers = [...reader.routers.keys()]
  return (bytes, at) => {
    if (transactions === null) return null
    const scanned = scanReceipts(bytes, at, ref.hash, transactions)
    if (scanned === null) return null
    const { receipts } = scanned
    const logs: RouterLog[] = []
    const paying: number[] = []
    let logIndex = 0
    for (const [index, receipt] of receipts.entries()) {
      const before = logs.length
      for (const log of receipt.logs) {
        const found = isOfOne(routers, bytes, log) ? ourLog(reader, bytes, log) : null
        if (found !== null) logs.push(routerLog(ref, transactions[index] as string, logIndex, found))
        logIndex += 1
      }
      if (logs.length > before) paying.push(index)
    }
    // Nothing that was found counts before this: it is also what checks that the text is hex.
    const proven = reader.prover.scannedRoot(bytes, receipts, paying)
    if (proven === null || proven.root !== receiptsRoot) return null
    const packed = paying.map((index, nth) => {
      const { succeeded } = receipts[index] as ScannedReceipt
      return new PackedReceipt(transactions[index] as string, ref, succeeded, proven.packedLogs[nth] as string)
    })
    return { value: new ProvenBlock(header, logs, packed), end: scanned.end }
  }
}

/** A receipt whose logs are unpacked when somebody looks at them. */
class PackedReceipt implements ReceiptFacts {
  readonly hash: string
  readonly blockHash: string
  readonly blockNumber: number
  readonly succeeded: boolean
  readonly #packed: string
  #logs: readonly ReceiptLog[] | undefined

  constructor(hash: string, block: BlockRef, succeeded: boolean, packed: string) {
    this.hash = hash
    this.blockHash = block.hash
    this.blockNumber = block.number
    this.succeeded = succeeded
    this.#packed = packed
  }

  get logs(): readonly ReceiptLog[] {
    this.#logs ??= unpackLogs(this.#packed)
    return this.#logs
  }
}

/** Whether a log is of one of these addresses. */
function isOfOne(addresses: readonly string[], bytes: Buffer, { address }: ScannedLog): boolean {
  for (const one of addresses) if (isKey(bytes, address - 2, one.length, one)) return true
  return false
}

/** The log of a router, when it is ours. */
function ourLog(reader: RangeReader, bytes: Buffer, log: ScannedLog): ReceiptLog | null {
  const found = readLog(bytes, log)
  return isOurs(reader, found) ? found : null
}

function readLog(bytes: Buffer, { address, topics, data, dataLength }: ScannedLog): ReceiptLog {
  return {
    address: hex(bytes, address, 40),
    topics: topics.map((topic) => hex(bytes, topic, 64)),
    data: hex(bytes, data, dataLength * 2),
  }
}

/** The digits at a place, with the `0x` in front of them. */
function hex(bytes: Buffer, place: number, digits: number): string {
  return bytes.toString('latin1', place - 2, place + digits)
}
