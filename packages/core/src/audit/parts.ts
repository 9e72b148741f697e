/** Reads the audit log in parts. @module */
import type { AuditRecord, AuditStore } from '../ports/store-audit.js'

/** Records of a part. */
const partSize = 1_000

/** The records after one of them, in their order, in parts that are not empty. */
export async function* auditParts(
  audit: Pick<AuditStore, 'list'>,
  afterSeq = 0,
): AsyncGenerator<readonly AuditRecord[], void, undefined> {
  for (let after = afterSeq; ; ) {
    const part = await audit.list({ afterSeq: after, limit: partSize })
    const last = part.at(-1)
    if (last === undefined) return
    yield part
    after = last.seq
  }
}
