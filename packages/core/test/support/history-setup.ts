import { createAudited } from '../../src/audit/audited.js'
import { createAuditQueries } from '../../src/audit/queries.js'
import { verifyChain } from '../../src/audit/verify-chain.js'
import { createHistoryCommands } from '../../src/history/commands.js'
import type { RetentionOptions, RetentionPolicy, RetentionProgress } from '../../src/history-types.js'
import type { HistoryRow } from '../../src/ports/history-archive.js'
import type { HistoryStore, SegmentedKind } from '../../src/ports/store-history.js'
import { parseMasterKey } from '../../src/secrets/master-key.js'
import { manualClock } from './manual-clock.js'
import { memoryArchive } from './memory-archive.js'
import { memoryStore } from './memory-store.js'

/** A day. */
export const dayMs = 86_400_000
/** Keeps all history. */
export const keep: RetentionPolicy = { attempts: null, deliveries: null, updates: null, audit: null }
/** Ends deliveries and updates after a week. */
export const week: RetentionPolicy = { ...keep, deliveries: 7 * dayMs, updates: 7 * dayMs }

/** Two segments that ended, eight days and one day ago, and the newest. */
export function setUpHistory(auditChains = 1) {
  const steps: string[] = []
  const [clock, store, archive] = [manualClock(), memoryStore({ auditChains }), memoryArchive(steps)]
  const now = clock.now()
  const begins = [0, now - 8 * dayMs, now - dayMs]
  const rows = new Map<string, HistoryRow[]>(
    ['attempts', 'deliveries', 'updates'].flatMap((kind) =>
      begins.map((_, number): [string, HistoryRow[]] => [`${kind} ${number}`, [{ kind, number, n: 1 }, { n: 2 }]]),
    ),
  )
  const pending = new Map<number, number>()
  const key = (kind: SegmentedKind, segment: number) => `${kind} ${segment}`
  const history: HistoryStore = {
    segments: async () => begins.map((begunAt, number) => ({ number, begunAt, endedAt: begins[number + 1] ?? null })),
    async beginSegment() {
      begins.push(clock.now())
    },
    async closeSegments(upTo) {
      steps.push(`close ${upTo}`)
    },
    pending: async () =>
      [...pending].map(([segment, count]) => ({ segment, integrationAddress: `0x${'5'.repeat(40)}`, count })),
    async giveUpPending() {
      const given = [...pending.values()].reduce((sum, count) => sum + count, 0)
      pending.clear()
      return given
    },
    count: async (kind, segment) => rows.get(key(kind, segment))?.length ?? 0,
    part: async (kind, segment) => ({
      async *rows() {
        yield rows.get(key(kind, segment)) ?? []
      },
      async remove() {
        steps.push(`remove ${key(kind, segment)}`)
        rows.delete(key(kind, segment))
      },
    }),
    async restore(kind, segment, group) {
      rows.set(key(kind, segment), [...group])
    },
  }
  const keys = parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90')
  const audited = createAudited({ transaction: store.transaction, keys, clock, actor: 'cli:ada' })
  const log = { audit: store.audit, keys }
  const verify = () => createAuditQueries(log).verify()
  const auditBrokenAt = async (chain: number) => (await verifyChain(log, chain)).brokenAt
  const commands = createHistoryCommands({
    store: { history, audit: store.audit, leases: store.leases },
    random: { bytes: () => new Uint8Array(16) },
    audited,
    auditBrokenAt,
    clock,
  })
  const progress: RetentionProgress[] = []
  const run = (policy: RetentionPolicy, options: RetentionOptions = {}) =>
    commands.run(policy, archive, { ...options, onProgress: (each) => progress.push(each) })
  const seqs = async () => (await store.audit.list({ limit: 999 })).map(({ seq }) => seq)
  const record = (subject: string, chain = 0) =>
    audited(async (_tx, note) => note({ action: 'integration.enabled', subject }), chain)
  const parts = { commands, history, archive, audited, auditBrokenAt, store, clock, rows, pending, progress, steps }
  return { ...parts, begins, run, verify, seqs, record }
}
