/** Keys of PostgreSQL's advisory locks, which every user of a database shares. @module */
import { createHash } from 'node:crypto'

/** The 64-bit key of a named lock within a schema, as decimal text. */
export function lockKey(schema: string, lock: string): string {
  const digest = createHash('sha256').update(`payment-integration\n${schema}\n${lock}`).digest()
  return digest.readBigInt64BE(0).toString()
}
