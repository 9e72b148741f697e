/** Encodes and parses receipts in the form that the receipts root covers. Source: EIP-658, EIP-2718. @module */
import type { Fields, ReceiptLog } from '../rpc/answers.js'
import { parseQuantity } from '../rpc/hex.js'
import {
  countBytes,
  MalformedRlpError,
  measureHex,
  measureItem,
  measureQuantity,
  parseItem,
  parseItems,
  parseSignificantDigits,
  type RlpItem,
  type RlpWriter,
  UnencodableError,
} from './rlp.js'

// Type 0x7e follows op-geth `core/types/receipt.go`, which encodes nonce and version of a deposit only if the receipt
// has a version.

const bloomBytes = 256
const addressBytes = 20
const hashBytes = 32
/** Deposits of the OP stack. */
const depositType = 0x7e
/** Bytes of an encoded hash (a topic or a state root), and of an encoded address: one byte of RLP prefix each. */
const hashLength = 1 + hashBytes
const addressLength = 1 + addressBytes

/** A receipt and the byte lengths of its encoding. `length` includes the type byte; `gas` is significant hex digits. */
export type MeasuredReceipt = ReturnType<typeof measureReceipt>

/** @throws {@link UnencodableError} When a field is missing or malformed. */
export function measureReceipt(receipt: Fields) {
  const type = parseType(receipt['type'])
  const gas = parseSignificantDigits(receipt['cumulativeGasUsed'], 'cumulativeGasUsed')
  if (!Array.isArray(receipt['logs'])) throw new UnencodableError('logs')
  const logs: readonly Fields[] = receipt['logs']
  let logsLength = 0
  for (const log of logs) logsLength += measureLog(log)
  const deposit = parseDeposit(type, receipt)
  let fieldsLength = measureStatus(receipt) + measureQuantity(gas) + measureItem(bloomBytes) + measureItem(logsLength)
  if (deposit !== null) fieldsLength += measureQuantity(deposit[0]) + measureQuantity(deposit[1])
  const length = measureItem(fieldsLength) + (type === 0 ? 0 : 1)
  return { receipt, type, length, fieldsLength, logsLength, logs, gas, deposit }
}

/** The writer must have room for `length` bytes. */
export function writeReceipt(writer: RlpWriter, measured: MeasuredReceipt): void {
  const { receipt, type, fieldsLength, logsLength, logs, gas, deposit } = measured
  if (type !== 0) writer.bytes[writer.at++] = type
  writer.writeHeader(0xc0, fieldsLength)
  if (hasStateRoot(receipt)) writer.writeItem(receipt['root'], hashBytes, 'root')
  else writer.writeQuantity(parseSignificantDigits(receipt['status'], 'status'), 'status')
  writer.writeQuantity(gas, 'cumulativeGasUsed')
  writer.writeItem(receipt['logsBloom'], bloomBytes, 'logsBloom')
  writer.writeHeader(0xc0, logsLength)
  for (const log of logs) writeLog(writer, log)
  if (deposit === null) return
  writer.writeQuantity(deposit[0], 'depositNonce')
  writer.writeQuantity(deposit[1], 'depositReceiptVersion')
}

/** 0 for a receipt without a type. */
function parseType(value: unknown): number {
  if (value === undefined || value === null) return 0
  const type = parseQuantity(value)
  if (type !== null && type < 0x80) return type
  throw new UnencodableError('type')
}

/** Before EIP-658 a receipt had the state root instead of the status. */
function hasStateRoot({ root, status }: Fields): boolean {
  return (status === undefined || status === null) && typeof root === 'string'
}

function measureStatus(receipt: Fields): number {
  return hasStateRoot(receipt) ? hashLength : measureQuantity(parseSignificantDigits(receipt['status'], 'status'))
}

/** The significant digits of a deposit's nonce and version; null for other receipts. */
function parseDeposit(type: number, receipt: Fields): readonly [string, string] | null {
  const version = receipt['depositReceiptVersion']
  if (type !== depositType || version === undefined || version === null) return null
  return [
    parseSignificantDigits(receipt['depositNonce'] ?? '0x0', 'depositNonce'),
    parseSignificantDigits(version, 'depositReceiptVersion'),
  ]
}

function getTopics(log: Fields): readonly unknown[] {
  const topics = log['topics']
  if (!Array.isArray(topics)) throw new UnencodableError('topics')
  return topics
}

function measureLogBody(log: Fields): number {
  return addressLength + measureItem(getTopics(log).length * hashLength) + measureHex(log['data'], 'data')
}

function measureLog(log: unknown): number {
  if (typeof log !== 'object' || log === null) throw new UnencodableError('log')
  return measureItem(measureLogBody(log as Fields))
}

function writeLog(writer: RlpWriter, log: Fields): void {
  const topics = getTopics(log)
  const data = log['data']
  writer.writeHeader(0xc0, measureLogBody(log))
  writer.writeItem(log['address'], addressBytes, 'address')
  writer.writeHeader(0xc0, topics.length * hashLength)
  for (const topic of topics) writer.writeItem(topic, hashBytes, 'topic')
  writer.writeItem(data, countBytes(data, 'data'), 'data')
}

/** A receipt that was parsed from its bytes. */
export interface RawReceipt {
  /** Null for a receipt from before EIP-658, which has no status. */
  readonly succeeded: boolean | null
  /** The addresses of the logs, lowercased, in order. */
  readonly addresses: readonly string[]
  /** @throws {@link MalformedRlpError} */
  logs(): ReceiptLog[]
}

/** @throws {@link MalformedRlpError} */
export function parseRawReceipt(bytes: Buffer): RawReceipt {
  const type = bytes[0] ?? 0
  const [status, , , logs] = parseItems(bytes, parseItem(bytes, type < 0x80 ? 1 : 0, bytes.length))
  if (status === undefined || logs === undefined) throw new MalformedRlpError('a receipt lacks a field')
  const fields = parseItems(bytes, logs).map((log) => parseLogFields(bytes, log))
  return {
    succeeded: parseStatus(bytes, status),
    addresses: fields.map(([address]) => sliceHex(bytes, address)),
    logs: () =>
      fields.map(([address, topics, data]) => ({
        address: sliceHex(bytes, address),
        topics: parseItems(bytes, topics).map((topic) => sliceHex(bytes, topic)),
        data: sliceHex(bytes, data),
      })),
  }
}

function parseLogFields(bytes: Buffer, log: RlpItem): readonly [RlpItem, RlpItem, RlpItem] {
  const [address, topics, data] = parseItems(bytes, log)
  if (address === undefined || topics === undefined || data === undefined)
    throw new MalformedRlpError('a log lacks a field')
  return [address, topics, data]
}

function parseStatus(bytes: Buffer, { start, end }: RlpItem): boolean | null {
  if (end - start > 1) return null
  return end > start && bytes[start] === 1
}

function sliceHex(bytes: Buffer, { start, end }: RlpItem): string {
  return `0x${bytes.toString('hex', start, end)}`
}
