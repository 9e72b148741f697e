/** Parses and validates the objects in JSON-RPC answers. @module */
import type { BlockRef } from '@payment-integration/core/ports'
import type { RouterLog } from '../decode/router-decoder.js'
import type { Failures } from './failures.js'
import { isHex, isWord, lowercaseAddress, lowercaseHash, parseQuantity } from './hex.js'

/** The fields of a transaction that payments need. */
export interface TransactionFacts {
  readonly hash: string
  readonly blockHash: string
  readonly from: string
  /** Null for a contract creation. */
  readonly to: string | null
  readonly value: bigint
  readonly input: string
}

export interface ReceiptLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** Compares the contents of two logs, not their positions. */
export function isSameLog(a: ReceiptLog, b: ReceiptLog): boolean {
  return a.address === b.address && a.data === b.data && a.topics.join() === b.topics.join()
}

export interface ReceiptFacts {
  readonly hash: string
  readonly blockHash: string
  readonly blockNumber: number
  readonly succeeded: boolean
  readonly logs: readonly ReceiptLog[]
}

/** A receipt, log, header or transaction in a node's answer. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses a block header; null when the node has none. */
export function parseHeader(value: unknown, fail: Failures): BlockRef | null {
  if (value === null) return null
  if (!isFields(value)) throw fail.unavailable('the answered block is not an object.')
  const number = parseQuantity(value['number'])
  const hash = lowercaseHash(value['hash'])
  const parentHash = lowercaseHash(value['parentHash'])
  const seconds = parseQuantity(value['timestamp'])
  if (number === null || hash === null || parentHash === null || seconds === null)
    throw fail.unavailable('a block was answered without a valid number, hash, parentHash or timestamp.')
  return { number, hash, parentHash, timestamp: seconds * 1000 }
}

export type HeaderContents = ReturnType<typeof parseHeaderContents>

/**
 * Parses the contents of a header that {@link parseHeader} accepted. `logsBloom` (0x and 512 hex digits) and
 * `receiptsRoot` are null on chains without them. `transactions` are hashes, also if the block was answered with whole
 * transactions; null when the node left them out.
 */
export function parseHeaderContents({ logsBloom, receiptsRoot, transactions }: Fields) {
  return {
    logsBloom: isHex(logsBloom) && logsBloom.length === 514 ? logsBloom : null,
    receiptsRoot: lowercaseHash(receiptsRoot),
    transactions: toHashes(Array.isArray(transactions) ? transactions.map(getHash) : transactions),
  }
}

function getHash(transaction: unknown): unknown {
  return isFields(transaction) ? transaction['hash'] : transaction
}

/** The unparsed transactions of a block, by hash; null when the node has no such block. */
export function parseBlockTransactions(value: unknown, fail: Failures): ReadonlyMap<string, unknown> | null {
  if (value === null) return null
  const transactions: unknown = isFields(value) ? value['transactions'] : undefined
  if (!Array.isArray(transactions)) throw fail.unavailable('a block was answered without its transactions.')
  const transactionsByHash = new Map<string, unknown>()
  for (const transaction of transactions) {
    const hash = isFields(transaction) ? lowercaseHash(transaction['hash']) : null
    if (hash === null) throw fail.unavailable('a block was answered with a transaction without a hash.')
    transactionsByHash.set(hash, transaction)
  }
  return transactionsByHash
}

export function parseLogs(value: unknown, fail: Failures): RouterLog[] {
  if (!Array.isArray(value)) throw fail.unavailable('eth_getLogs did not answer a list.')
  return value.map((item: unknown) => parseLog(item, fail))
}

function parseLog(value: unknown, fail: Failures): RouterLog {
  if (!isFields(value)) throw fail.unavailable('eth_getLogs answered a log that is not an object.')
  const body = parseLogBody(value, fail)
  const blockNumber = parseQuantity(value['blockNumber'])
  const blockHash = lowercaseHash(value['blockHash'])
  const txHash = lowercaseHash(value['transactionHash'])
  const logIndex = parseQuantity(value['logIndex'])
  if (value['removed'] === true) throw fail.noBlock(`a log of block ${blockNumber} is marked as removed.`)
  if (blockNumber === null || blockHash === null || txHash === null || logIndex === null)
    throw fail.unavailable(
      'eth_getLogs answered a log without a valid block number, block hash, transaction hash or index.',
    )
  const txIndex = parseQuantity(value['transactionIndex'])
  const seconds = parseQuantity(value['blockTimestamp'])
  const blockTimestamp = seconds === null || seconds === 0 ? null : seconds * 1000
  return { ...body, blockNumber, blockHash, txHash, txIndex, logIndex, blockTimestamp }
}

function parseLogBody(value: Fields, fail: Failures): ReceiptLog {
  const address = lowercaseAddress(value['address'])
  const data = value['data']
  const topics = toHashes(value['topics'])
  if (address === null || topics === null || !isHex(data))
    throw fail.unavailable('a log was answered without a valid address, topics or data.')
  return { address, topics, data: data.toLowerCase() }
}

/** Lowercases a list of hashes; null when the value is not one. */
function toHashes(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null
  const hashes: string[] = []
  for (const item of value) {
    const hash = lowercaseHash(item)
    if (hash === null) return null
    hashes.push(hash)
  }
  return hashes
}

/** Parses a transaction; null when the node does not know it, or it is in no block. */
export function parseTransaction(value: unknown, fail: Failures): TransactionFacts | null {
  if (value === null) return null
  if (!isFields(value)) throw fail.unavailable('the answered transaction is not an object.')
  if (value['blockHash'] === null) return null
  const hash = lowercaseHash(value['hash'])
  const blockHash = lowercaseHash(value['blockHash'])
  const from = lowercaseAddress(value['from'])
  const to = lowercaseAddress(value['to'])
  const isToMalformed = to === null && (value['to'] ?? null) !== null
  const input = value['input'] ?? value['data']
  const amount = value['value']
  if (hash === null || blockHash === null || from === null || isToMalformed || !isHex(input) || !isWord(amount))
    throw fail.unavailable('a transaction was answered without a valid hash, block hash, from, to, value or input.')
  return { hash, blockHash, from, to, value: BigInt(amount), input: input.toLowerCase() }
}

/** Parses a receipt; null when the node has none. */
export function parseReceipt(value: unknown, fail: Failures): ReceiptFacts | null {
  if (value === null) return null
  if (!isFields(value)) throw fail.unavailable('the answered receipt is not an object.')
  const hash = lowercaseHash(value['transactionHash'])
  const blockHash = lowercaseHash(value['blockHash'])
  const blockNumber = parseQuantity(value['blockNumber'])
  const status = parseQuantity(value['status'])
  const logs = value['logs']
  if (hash === null || blockHash === null || blockNumber === null || !Array.isArray(logs))
    throw fail.unavailable('a receipt was answered without a valid transaction hash, block or logs.')
  if (status !== 0 && status !== 1) throw fail.unavailable('a receipt was answered without a status of 0x0 or 0x1.')
  return {
    hash,
    blockHash,
    blockNumber,
    succeeded: status === 1,
    logs: logs.map((log: unknown) => {
      if (!isFields(log)) throw fail.unavailable('a receipt was answered with a log that is not an object.')
      return parseLogBody(log, fail)
    }),
  }
}
