/** Reads a receipt as the receipts root commits to it. Source: EIP-658 (status), EIP-2718 (typed receipts). @module */
import type { ReceiptLog } from '../internal/answers.js'
import { itemAt, itemsIn, MalformedRlpError, type RlpItem } from './rlp-reader.js'

/** The status and logs of a receipt that was read from its bytes. */
export interface RawReceipt {
  /** Null before EIP-658, when a receipt had the state's root instead. */
  readonly succeeded: boolean | null
  /** The contracts that wrote its logs, lowercased, in order. */
  readonly addresses: readonly string[]
  /** Its logs, in order. @throws {@link MalformedRlpError} */
  logs(): ReceiptLog[]
}

/** @throws {@link MalformedRlpError} */
export function readRawReceipt(bytes: Buffer): RawReceipt {
  const type = bytes[0] ?? 0
  const [status, , , logs] = itemsIn(bytes, itemAt(bytes, type < 0x80 ? 1 : 0, bytes.length))
  if (status === undefined || logs === undefined) throw new MalformedRlpError('a receipt lacks a field')
  const fields = itemsIn(bytes, logs).map((log) => fieldsOf(bytes, log))
  return {
    succeeded: succeeded(bytes, status),
    addresses: fields.map(([address]) => hexOf(bytes, address)),
    logs: () =>
      fields.map(([address, topics, data]) => ({
        address: hexOf(bytes, address),
        topics: itemsIn(bytes, topics).map((topic) => hexOf(bytes, topic)),
        data: hexOf(bytes, data),
      })),
  }
}

function fieldsOf(bytes: Buffer, log: RlpItem): readonly [RlpItem, RlpItem, RlpItem] {
  const [address, topics, data] = itemsIn(bytes, log)
  if (address === undefined || topics === undefined || data === undefined)
    throw new MalformedRlpError('a log lacks a field')
  return [address, topics, data]
}

function succeeded(bytes: Buffer, { start, end }: RlpItem): boolean | null {
  if (end - start > 1) return null
  return end > start && bytes[start] === 1
}

function hexOf(bytes: Buffer, { start, end }: RlpItem): string {
  return `0x${bytes.toString('hex', start, end)}`
}
