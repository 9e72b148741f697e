/**
 * Finds, in the bytes of an answer, what the receipts root of a block commits to: places instead of objects, as most of an answer is
 * neither needed nor kept. Source: EIP-658 (status), EIP-2718 (typed receipts).
 *
 * Only plain receipts are taken: status, lowercase hex, no deposits. Others are left to `receipt-rlp.ts`, which also says what is wrong
 * with them. Hex is checked when it is written.
 * @module
 */
import { endOfString, hexAt, isKey, isText, skipValue, walkList, walkObject } from '../internal/json-bytes.js'
import { itemLength } from './rlp-writer.js'

/** A log. Places are those of the first hex digit behind `0x`. */
export interface ScannedLog {
  readonly address: number
  readonly topics: readonly number[]
  readonly data: number
  /** Bytes of the data. */
  readonly dataLength: number
  /** Bytes within the log's list in RLP. */
  readonly bodyLength: number
}

/** A receipt, with the lengths of its encoding in bytes. */
export interface ScannedReceipt {
  readonly type: number
  readonly succeeded: boolean
  readonly gas: number
  readonly bloom: number
  readonly logs: readonly ScannedLog[]
  readonly logsLength: number
  readonly fieldsLength: number
  readonly length: number
}

/** The receipts of a block, in order. */
export interface ScannedReceipts {
  readonly receipts: readonly ScannedReceipt[]
  /** Behind the last byte of their list. */
  readonly end: number
}

const hashDigits = 64
const bloomDigits = 512
const topicLength = 33
const addressLength = 21
const bloomLength = itemLength(bloomDigits / 2)
/** Deposits of the OP stack have further fields, and types above it are no types. */
const firstOtherType = 0x7e
/** Digits of a number that is exact. */
const mostDigits = 13

/**
 * Scans the list of receipts at `at`.
 * @param blockHash - The block that each of them must be of.
 * @param transactions - The transactions that they must be of, in order.
 * @returns Null when any is of something else, or not plain.
 */
export function scanReceipts(
  bytes: Buffer,
  at: number,
  blockHash: string,
  transactions: readonly string[],
): ScannedReceipts | null {
  const receipts: ScannedReceipt[] = []
  const end = walkList(bytes, at, (place) => scanReceipt(bytes, place, blockHash, transactions, receipts))
  return end === -1 || receipts.length !== transactions.length ? null : { receipts, end }
}

function scanReceipt(
  bytes: Buffer,
  at: number,
  blockHash: string,
  transactions: readonly string[],
  into: ScannedReceipt[],
): number {
  const owner = transactions[into.length]
  let type = -1
  let status = -1
  let gas = -1
  let bloom = -1
  let isOfBlock = false
  let isOfOwner = false
  let logs: ScannedLog[] | null = null
  const end = walkObject(bytes, at, (key, length, value) => {
    switch (length) {
      case 4:
        if (isKey(bytes, key, length, 'logs')) {
          logs = []
          return scanLogs(bytes, value, logs)
        }
        if (isKey(bytes, key, length, 'type')) type = numberAt(bytes, value)
        break
      case 6:
        if (isKey(bytes, key, length, 'status')) status = numberAt(bytes, value)
        break
      case 9:
        if (isKey(bytes, key, length, 'logsBloom')) {
          bloom = hexOf(bytes, value, bloomDigits)
          return bloom === -1 ? -1 : bloom + bloomDigits + 1
        }
        if (isKey(bytes, key, length, 'blockHash')) isOfBlock = isText(bytes, value, blockHash)
        break
      case 15:
        if (isKey(bytes, key, length, 'transactionHash')) isOfOwner = owner !== undefined && isText(bytes, value, owner)
        break
      case 17:
        if (isKey(bytes, key, length, 'cumulativeGasUsed')) gas = numberAt(bytes, value)
        break
    }
    return skipValue(bytes, value)
  })
  const found = logs as ScannedLog[] | null
  if (!isOfBlock || !isOfOwner || type === -1 || type >= firstOtherType || gas === -1 || bloom === -1) return -1
  if (found === null || (status !== 0 && status !== 1)) return -1
  let logsLength = 0
  for (const { bodyLength } of found) logsLength += itemLength(bodyLength)
  const fieldsLength = 1 + numberLength(gas) + bloomLength + itemLength(logsLength)
  const length = itemLength(fieldsLength) + (type === 0 ? 0 : 1)
  into.push({ type, succeeded: status === 1, gas, bloom, logs: found, logsLength, fieldsLength, length })
  return end
}

function scanLogs(bytes: Buffer, at: number, into: ScannedLog[]): number {
  return walkList(bytes, at, (place) => scanLog(bytes, place, into))
}

function scanLog(bytes: Buffer, at: number, into: ScannedLog[]): number {
  let address = -1
  let data = -1
  let dataEnd = -1
  let topics: number[] | null = null
  const end = walkObject(bytes, at, (key, length, value) => {
    if (length === 4 && isKey(bytes, key, length, 'data')) {
      data = hexAt(bytes, value)
      dataEnd = data === -1 ? -1 : endOfString(bytes, data)
      return dataEnd === -1 ? -1 : dataEnd + 1
    }
    if (length === 6 && isKey(bytes, key, length, 'topics')) {
      topics = []
      return scanTopics(bytes, value, topics)
    }
    if (length === 7 && isKey(bytes, key, length, 'address')) address = hexOf(bytes, value, 40)
    return skipValue(bytes, value)
  })
  const found = topics as number[] | null
  const digits = dataEnd - data
  // A single byte has an encoding of its own.
  if (address === -1 || found === null || data === -1 || digits % 2 !== 0 || digits === 2) return -1
  const dataLength = digits / 2
  const bodyLength = addressLength + itemLength(found.length * topicLength) + itemLength(dataLength)
  into.push({ address, topics: found, data, dataLength, bodyLength })
  return end
}

function scanTopics(bytes: Buffer, at: number, into: number[]): number {
  return walkList(bytes, at, (place) => {
    const topic = hexOf(bytes, place, hashDigits)
    if (topic === -1) return -1
    into.push(topic)
    return topic + hashDigits + 1
  })
}

/** The place of the first of so many digits of the hex string at `at`, or -1 when it has another length. */
function hexOf(bytes: Buffer, at: number, digits: number): number {
  const start = hexAt(bytes, at)
  return start !== -1 && bytes[start + digits] === 0x22 ? start : -1
}

/** The quantity in the string at `at`, or -1. */
function numberAt(bytes: Buffer, at: number): number {
  const start = hexAt(bytes, at)
  if (start === -1) return -1
  let value = 0
  let place = start
  for (; bytes[place] !== 0x22; place++) {
    const byte = bytes[place] as number
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1
    if (digit === -1 || place - start === mostDigits) return -1
    value = value * 16 + digit
  }
  return place === start ? -1 : value
}

/** The bytes that a number takes in RLP. */
function numberLength(value: number): number {
  let bytes = 1
  for (let rest = value; rest > 255; rest = Math.floor(rest / 256)) bytes++
  return value < 0x80 ? 1 : 1 + bytes
}
