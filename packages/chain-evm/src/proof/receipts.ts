/**
 * Encodes and reads receipts as the receipts root commits to them. Source: EIP-658 (status), EIP-2718 (typed receipts).
 * @module
 */

import type { ReceiptLog } from '../rpc/answers.js'
import { parseQuantity } from '../rpc/hex.js'
import {
  countBytes,
  itemLength,
  MalformedRlpError,
  parseItem,
  parseItems,
  quantityDigits,
  quantityLength,
  type RlpItem,
  type RlpWriter,
  UnencodableError,
} from './rlp.js'

// Encodes receipts as the receipts root commits to them. Source: EIP-658 (status), EIP-2718 (typed receipts).
// For type 0x7e: op-geth `core/types/receipt.go`, which encodes a deposit's nonce and version once it has a version.

/** The fields of a receipt and of a log as a node answers them. */
export type NodeObject = Readonly<Record<string, unknown>>

const bloomBytes = 256
const addressBytes = 20
const topicBytes = 32
/** Deposits of the OP stack. */
const depositType = 0x7e
/** An encoded topic, and an encoded address. */
const topicLength = 1 + topicBytes
const addressLength = 1 + addressBytes

/** A receipt that is measured and can be written. */
export interface MeasuredReceipt {
  readonly receipt: NodeObject
  /** 0 for a receipt without a type. */
  readonly type: number
  /** Bytes of the whole receipt, its type byte included. */
  readonly length: number
  /** Bytes within the list of fields, and within the list of logs. */
  readonly fieldsLength: number
  readonly logsLength: number
  readonly logs: readonly NodeObject[]
  /** Significant digits of the gas used. */
  readonly gas: string
  /** Those of the deposit's nonce and version; null where the encoding has none. */
  readonly deposit: readonly [string, string] | null
}

/** @throws {@link UnencodableError} When the receipt lacks what its encoding needs. */
export function measureReceipt(receipt: NodeObject): MeasuredReceipt {
  const type = getType(receipt['type'])
  const gas = quantityDigits(receipt['cumulativeGasUsed'], 'cumulativeGasUsed')
  const logs = receipt['logs']
  if (!Array.isArray(logs)) throw new UnencodableError('logs')
  let logsLength = 0
  for (const log of logs as NodeObject[]) logsLength += logLength(log)
  const deposit = getDeposit(type, receipt)
  let fieldsLength = statusLength(receipt) + quantityLength(gas) + itemLength(bloomBytes) + itemLength(logsLength)
  if (deposit !== null) fieldsLength += quantityLength(deposit[0]) + quantityLength(deposit[1])
  const length = itemLength(fieldsLength) + (type === 0 ? 0 : 1)
  return { receipt, type, length, fieldsLength, logsLength, logs, gas, deposit }
}

/** Writes what was measured; room for `length` bytes must be there. */
export function writeReceipt(writer: RlpWriter, measured: MeasuredReceipt): void {
  const { receipt, type, fieldsLength, logsLength, logs, gas, deposit } = measured
  if (type !== 0) writer.bytes[writer.at++] = type
  writer.header(0xc0, fieldsLength)
  if (hasRoot(receipt)) writer.item(receipt['root'], topicBytes, 'root')
  else writer.quantity(quantityDigits(receipt['status'], 'status'), 'status')
  writer.quantity(gas, 'cumulativeGasUsed')
  writer.item(receipt['logsBloom'], bloomBytes, 'logsBloom')
  writer.header(0xc0, logsLength)
  for (const log of logs) writeLog(writer, log)
  if (deposit === null) return
  writer.quantity(deposit[0], 'depositNonce')
  writer.quantity(deposit[1], 'depositReceiptVersion')
}

function getType(value: unknown): number {
  if (value === undefined || value === null) return 0
  const type = parseQuantity(value)
  if (type !== null && type < 0x80) return type
  throw new UnencodableError('type')
}

/** Before EIP-658 a receipt had the state's root in place of the status. */
function hasRoot({ root, status }: NodeObject): boolean {
  return (status === undefined || status === null) && typeof root === 'string'
}

function statusLength(receipt: NodeObject): number {
  return hasRoot(receipt) ? topicLength : quantityLength(quantityDigits(receipt['status'], 'status'))
}

function getDeposit(type: number, receipt: NodeObject): readonly [string, string] | null {
  const version = receipt['depositReceiptVersion']
  if (type !== depositType || version === undefined || version === null) return null
  return [
    quantityDigits(receipt['depositNonce'] ?? '0x0', 'depositNonce'),
    quantityDigits(version, 'depositReceiptVersion'),
  ]
}

function getTopics(log: NodeObject): readonly unknown[] {
  const topics = log['topics']
  if (!Array.isArray(topics)) throw new UnencodableError('topics')
  return topics
}

function dataLength(data: unknown): number {
  const bytes = countBytes(data, 'data')
  return bytes === 1 && Number.parseInt(data as string, 16) < 0x80 ? 1 : itemLength(bytes)
}

function bodyLength(log: NodeObject): number {
  return addressLength + itemLength(getTopics(log).length * topicLength) + dataLength(log['data'])
}

function logLength(log: unknown): number {
  if (typeof log !== 'object' || log === null) throw new UnencodableError('log')
  return itemLength(bodyLength(log as NodeObject))
}

function writeLog(writer: RlpWriter, log: NodeObject): void {
  const topics = getTopics(log)
  const data = log['data']
  writer.header(0xc0, bodyLength(log))
  writer.item(log['address'], addressBytes, 'address')
  writer.header(0xc0, topics.length * topicLength)
  for (const topic of topics) writer.item(topic, topicBytes, 'topic')
  writer.item(data, countBytes(data, 'data'), 'data')
}

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
