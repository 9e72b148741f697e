/**
 * The hash of a block header, from its fields, in the order of `Header` in go-ethereum.
 * Source: Ethereum yellow paper 4.3 and the EIPs that added fields (1559, 4895, 4844, 4788, 7685, 7928, 7843).
 *
 * A header that hashes to the block's hash is the one that the chain agreed on, with its log filter and receipts root.
 * Chains with headers of their own kind have another hash; there, this proves nothing.
 * @module
 */
import { keccak } from '../internal/keccak.js'
import type { NodeObject } from './receipt-rlp.js'
import {
  bytesIn,
  itemLength,
  quantityDigits,
  quantityLength,
  type RlpWriter,
  toHex,
  UnencodableError,
} from './rlp-writer.js'

type Kind = 'bytes' | 'quantity'

/** Fields by their JSON names, in order. */
const required: readonly (readonly [string, Kind])[] = [
  ['parentHash', 'bytes'],
  ['sha3Uncles', 'bytes'],
  ['miner', 'bytes'],
  ['stateRoot', 'bytes'],
  ['transactionsRoot', 'bytes'],
  ['receiptsRoot', 'bytes'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'bytes'],
  ['mixHash', 'bytes'],
  ['nonce', 'bytes'],
]
/** Those that later forks added: a header has the first few of them. */
const added: readonly (readonly [string, Kind])[] = [
  ['baseFeePerGas', 'quantity'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 'bytes'],
  ['requestsHash', 'bytes'],
  ['blockAccessListHash', 'bytes'],
  ['slotNumber', 'quantity'],
]

/**
 * The hash as 0x hex, or null when the header lacks a field or has one that is malformed.
 * @param writer - A buffer to work in; what it held is overwritten.
 */
export function headerHash(header: NodeObject, writer: RlpWriter): string | null {
  try {
    let length = 0
    for (const [name, kind] of required) length += fieldLength(header[name], kind, name)
    for (const [name, kind] of added) if (isGiven(header[name])) length += fieldLength(header[name], kind, name)
    writer.at = 0
    writer.reserve(itemLength(length))
    writer.header(0xc0, length)
    for (const [name, kind] of required) writeField(writer, header[name], kind, name)
    for (const [name, kind] of added) if (isGiven(header[name])) writeField(writer, header[name], kind, name)
    return toHex(keccak(writer.bytes.subarray(0, writer.at)))
  } catch (error) {
    if (error instanceof UnencodableError) return null
    throw error
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function fieldLength(value: unknown, kind: Kind, name: string): number {
  if (kind === 'quantity') return quantityLength(quantityDigits(value, name))
  const bytes = bytesIn(value, name)
  return bytes === 1 && Number.parseInt(value as string, 16) < 0x80 ? 1 : itemLength(bytes)
}

function writeField(writer: RlpWriter, value: unknown, kind: Kind, name: string): void {
  if (kind === 'quantity') writer.quantity(quantityDigits(value, name), name)
  else writer.item(value, bytesIn(value, name), name)
}
