/**
 * The user operations in the calldata of an ERC-4337 bundle. Decoded by hand: sender and callData are the first and the
 * fourth word of an operation in every version. Source: ERC-4337; EntryPoint 0.6 to 0.9.
 * @module
 */
import { wordAt, wordToAddress, wordToOffset } from '../internal/hex.js'

/** A call of an account. */
export interface UserOperation {
  /** The account, lowercased. */
  readonly sender: string
  /** 0x hex: what the account was called with. */
  readonly callData: string
}

/** `handleOps` of EntryPoint 0.6, and of 0.7 and above, whose operations are packed. */
const plain: ReadonlySet<string> = new Set(['0x1fad948c', '0x765e827f'])
/** `handleAggregatedOps` of the same. */
const aggregated: ReadonlySet<string> = new Set(['0x4b1d7cf5', '0xdbed18e0'])

const wordBytes = 32
/** Place of `callData` in an operation, in words. */
const callDataWord = 3

/** Whether calldata begins like a bundle. */
export function isBundle(calldata: string): boolean {
  const selector = calldata.slice(0, 10).toLowerCase()
  return plain.has(selector) || aggregated.has(selector)
}

/**
 * Reads the operations of a bundle, in the order of their execution.
 * @param calldata - 0x hex.
 * @param most - Limit of operations. Calldata may name one of them any number of times, so reading stops there.
 * @returns Null when the calldata is no bundle, is malformed, or has more operations. Also when operations share bytes
 * and so are longer than the calldata. It never throws.
 */
export function readBundle(calldata: string, most: number): UserOperation[] | null {
  if (!isBundle(calldata)) return null
  const hex = `0x${calldata.slice(10)}`
  const operations: UserOperation[] = []
  const list = offsetAt(hex, 0, 0)
  if (list === null) return null
  const read = plain.has(calldata.slice(0, 10).toLowerCase()) ? readOperations : readAggregated
  if (!read(hex, list, most, operations)) return null
  let length = 0
  for (const { callData } of operations) length += callData.length - 2
  return length <= hex.length ? operations : null
}

function readAggregated(hex: string, list: number, most: number, into: UserOperation[]): boolean {
  return eachItem(hex, list, most, (aggregate) => {
    const operations = offsetAt(hex, aggregate, 0)
    return operations !== null && readOperations(hex, operations, most - into.length, into)
  })
}

function readOperations(hex: string, list: number, most: number, into: UserOperation[]): boolean {
  return eachItem(hex, list, most, (operation) => {
    const sender = wordToAddress(wordAt(hex, operation))
    const callData = bytesAt(hex, offsetAt(hex, operation, callDataWord))
    if (sender === null || callData === null) return false
    into.push({ sender, callData })
    return true
  })
}

/** Calls `read` with each item of a list of dynamic items. False when there are too many, or one is malformed. */
function eachItem(hex: string, list: number, most: number, read: (item: number) => boolean): boolean {
  const count = wordToOffset(wordAt(hex, list))
  if (count === null || count > most) return false
  const items = list + wordBytes
  for (let index = 0; index < count; index++) {
    const item = offsetAt(hex, items, index)
    if (item === null || !read(item)) return false
  }
  return true
}

/** The place that the word at an index points to, counted from `base`; null when it is not there or points nowhere. */
function offsetAt(hex: string, base: number, index: number): number | null {
  const offset = wordToOffset(wordAt(hex, base + index * wordBytes))
  return offset === null ? null : base + offset
}

function bytesAt(hex: string, place: number | null): string | null {
  if (place === null) return null
  const length = wordToOffset(wordAt(hex, place))
  if (length === null) return null
  const start = 2 + (place + wordBytes) * 2
  const end = start + length * 2
  return end > hex.length ? null : `0x${hex.slice(start, end)}`
}
