/** Recomputes block hashes and receipts roots. Source: docs/decisions/completeness.md. @module */
import { loadKeccak } from '../internal/keccak.js'
import { headerHash } from './header-hash.js'
import { listRoot } from './list-root.js'
import { type MeasuredReceipt, measureReceipt, type NodeObject, writeReceipt } from './receipt-rlp.js'
import { RlpWriter, UnencodableError } from './rlp-writer.js'

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
