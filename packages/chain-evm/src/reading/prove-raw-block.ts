/** Proves raw receipts of a block and takes our logs from them. Source: docs/decisions/completeness.md. @module */
import type { ReceiptFacts } from '../internal/answers.js'
import { type RawReceipt, readRawReceipt } from '../proof/raw-receipt.js'
import { MalformedRlpError } from '../proof/rlp-reader.js'
import type { RangeReader } from '../range-reader.js'
import type { BlockReceipts } from './block-contents.js'
import type { Header } from './headers.js'
import { createOurLogs, type ProvenLogs } from './our-logs.js'
import { provenRaw, stopRaw } from './raw-receipts.js'

/**
 * Proves raw receipts and finds our logs in them. Their transactions are those that the header's block names in order.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when they are not those that the header commits to; the node is then asked
 * for them no more. `ERR_CHAIN_UNAVAILABLE` when one of ours is malformed.
 */
export function proveRawBlock(reader: RangeReader, header: Header, answered: BlockReceipts): ProvenLogs {
  const { rpc, fail, routers } = reader
  const { ref, transactions } = header
  const raw = provenRaw(reader, header, answered)
  if (raw === null || transactions === null) {
    stopRaw(rpc)
    throw fail.gone(`the raw receipts of block ${ref.number} are not those that its header commits to.`)
  }
  const ours = createOurLogs(reader, ref)
  try {
    for (const [index, bytes] of raw.entries()) {
      const receipt = readRawReceipt(bytes)
      const isListed = receipt.addresses.some((address) => routers.has(address))
      const hash = transactions[index] as string
      ours.add(receipt.addresses.length, isListed ? factsOf(reader, header, hash, receipt) : null)
    }
  } catch (error) {
    if (!(error instanceof MalformedRlpError)) throw error
    stopRaw(rpc)
    throw fail.unavailable(`a raw receipt of block ${ref.number} cannot be read: ${error.message}.`)
  }
  return ours
}

function factsOf({ fail }: RangeReader, { ref }: Header, hash: string, receipt: RawReceipt): ReceiptFacts {
  const { succeeded } = receipt
  if (succeeded === null) throw fail.unavailable('a receipt was answered without a status of 0x0 or 0x1.')
  return { hash, blockHash: ref.hash, blockNumber: ref.number, succeeded, logs: receipt.logs() }
}
