/** Writes receipts that were found in the bytes of an answer, as the receipts root commits to them. @module */
import type { RlpWriter } from './rlp-writer.js'
import type { ScannedLog, ScannedReceipt } from './scan-receipts.js'

/**
 * Room for the receipt's `length` bytes must be there.
 * @returns Where its logs begin among the writer's bytes: they come last.
 * @throws {@link UnencodableError} On anything but lowercase hex.
 */
export function writeScanned(writer: RlpWriter, bytes: Uint8Array, receipt: ScannedReceipt): number {
  const { type, succeeded, gas, bloom, logs, logsLength, fieldsLength } = receipt
  if (type !== 0) writer.bytes[writer.at++] = type
  writer.header(0xc0, fieldsLength)
  writer.number(succeeded ? 1 : 0)
  writer.number(gas)
  writer.scanned(bytes, bloom, 256, 'logsBloom')
  writer.header(0xc0, logsLength)
  const logsAt = writer.at
  for (const log of logs) writeLog(writer, bytes, log)
  return logsAt
}

function writeLog(writer: RlpWriter, bytes: Uint8Array, log: ScannedLog): void {
  const { address, topics, data, dataLength, bodyLength } = log
  writer.header(0xc0, bodyLength)
  writer.scanned(bytes, address, 20, 'address')
  writer.header(0xc0, topics.length * 33)
  for (const topic of topics) writer.scanned(bytes, topic, 32, 'topic')
  writer.scanned(bytes, data, dataLength, 'data')
}
