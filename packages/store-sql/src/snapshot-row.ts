/** Reads the snapshot bytes of a row. @module */
import { hexOf } from './internal/hex.js'
import { integer } from './internal/values.js'
import { unpackBody } from './packed-body.js'
import type { Integer } from './schema/integer.js'

/** A snapshot's columns with those of its payment. */
interface SubjectRow {
  readonly chain_id: Integer
  readonly tx_hash: Uint8Array | string
  readonly version: Integer
}

/**
 * The snapshot bytes of the bytes in a row.
 * @param integrationAddress - Of the payment, or of the snapshot where it is notified.
 */
export const snapshotBytes = (stored: Uint8Array, integrationAddress: string | null, row: SubjectRow): Uint8Array =>
  unpackBody(stored, {
    integrationAddress,
    chainId: integer(row.chain_id),
    txHash: hexOf(row.tx_hash),
    version: integer(row.version),
  })
