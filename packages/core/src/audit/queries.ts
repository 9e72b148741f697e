/** Reads the audit log and checks its chains. Source: docs/decisions/audit.md. @module */
import { assertWhole } from '../internal/assert-whole.js'
import type { AuditHead, AuditQueries } from '../service-types.js'
import { type AuditLog, verifyChain } from './verify-chain.js'

/** Builds the queries. */
export function createAuditQueries({ audit, keys }: AuditLog): AuditQueries {
  const { chains } = audit
  return {
    chains,
    async list(query) {
      assertWhole('limit', query.limit, 1)
      return audit.list(query)
    },
    async heads() {
      const heads: AuditHead[] = []
      for (let chain = 0; chain < chains; chain += 1) {
        const newest = await audit.newest(chain)
        if (newest !== null) heads.push({ seq: newest.seq, at: newest.at, hash: newest.hash })
      }
      return heads
    },
    async verify({ onProgress, signal } = {}) {
      const [heads, brokenAt]: [AuditHead[], number[]] = [[], []]
      let records = 0
      for (let chain = 0; chain < chains; chain += 1) {
        const before = records
        const progress = (checked: number) => onProgress?.(before + checked)
        const verdict = await verifyChain({ audit, keys }, chain, { onProgress: progress, signal })
        records += verdict.records
        if (verdict.last !== null) heads.push(verdict.last)
        if (verdict.brokenAt !== null) brokenAt.push(verdict.brokenAt)
      }
      return { records, heads, brokenAt }
    },
  }
}
