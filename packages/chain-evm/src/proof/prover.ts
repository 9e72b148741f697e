/** Recomputes block hashes and receipts roots. Source: docs/decisions/completeness.md. @module */
import { keccak, loadKeccak } from './keccak.js'
import { listRoot } from './list-root.js'
import { type MeasuredReceipt, measureReceipt, type NodeObject, writeReceipt } from './receipts.js'
import { bytesIn, itemLength, quantityDigits, quantityLength, RlpWriter, toHex, UnencodableError } from './rlp.js'

// The hash of a block header, from its fields, in the order of `Header` in go-ethereum.
// Source: Ethereum yellow paper 4.3 and the EIPs that added fields (1559, 4895, 4844, 4788, 7685, 7928, 7843).
//
// A header that hashes to the block's hash is the one that the chain agreed on, with its log filter and receipts root.
// Chains with headers of their own kind have another hash; there, this proves nothing.

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
 * @param writer - A scratch buffer; its former content is overwritten.
 */
function headerHash(header: NodeObject, writer: RlpWriter): string | null {
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

/** Recomputes hashes from the objects that a node answered. */
export interface Prover {
  /** The hash of a header, or null when it is of a kind that is not known or is malformed. */
  headerHash(header: NodeObject): string | null
  /** The root of a block's receipts, in order, or what is wrong with them. */
  receiptsRoot(receipts: readonly NodeObject[]): { readonly root: string } | { readonly flaw: string }
  /** The root of a list of items, in order, each of 32 bytes or more. */
  listRoot(items: readonly Uint8Array[]): string
}

let opened: Promise<Prover> | undefined

/** Makes the prover of this process once; all its work is synchronous, in one buffer. */
export function openProver(): Promise<Prover> {
  opened ??= loadKeccak().then(createProver)
  return opened
}

function createProver(): Prover {
  const writer = new RlpWriter()
  return {
    headerHash: (header) => headerHash(header, writer),
    listRoot(list) {
      const at = (index: number) => list[index] as Uint8Array
      const items = {
        count: list.length,
        lengthOf: (index: number) => at(index).length,
        write(into: RlpWriter, index: number) {
          into.bytes.set(at(index), into.at)
          into.at += at(index).length
        },
      }
      return listRoot(items, writer)
    },
    receiptsRoot(receipts) {
      try {
        const measured = receipts.map(measureReceipt)
        const at = (index: number) => measured[index] as MeasuredReceipt
        const items = {
          count: measured.length,
          lengthOf: (index: number) => at(index).length,
          write: (into: RlpWriter, index: number) => writeReceipt(into, at(index)),
        }
        return { root: listRoot(items, writer) }
      } catch (error) {
        if (error instanceof UnencodableError) return { flaw: error.message }
        throw error
      }
    },
  }
}
