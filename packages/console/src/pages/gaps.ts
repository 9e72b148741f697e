/** Finds blocks that were not read. @module */
import type { ProvenRange } from '@payment-integration/core/ports'

/** Blocks between the stored ranges, newest first. */
export function gapsOf(proofs: readonly ProvenRange[]): { readonly from: number; readonly to: number }[] {
  return proofs.flatMap((newer, index) => {
    const older = proofs[index + 1]
    return older !== undefined && older.to + 1 < newer.from ? [{ from: older.to + 1, to: newer.from - 1 }] : []
  })
}
