/** `payment-integration audit list`: prints records of the audit log. @module */
import type { AuditHead, AuditQueries } from '@payment-integration/core'
import { type AuditRecord, auditChainOf, auditTotal, type Store } from '@payment-integration/core/ports'
import { InterruptedError } from '../errors.js'
import { grouped, momentText, plain } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Options of {@link listAudit}. */
export interface ListAuditOptions extends OperateOptions {
  /** Limit of printed records. @default 50 */
  readonly limit?: number | undefined
  /** Print all records. @default false */
  readonly all?: boolean | undefined
  /** Print the records that follow this number in its audit chain. @default the newest records of all chains */
  readonly after?: number | undefined
}

const defaultLimit = 50
/** The highest limit: the newest records are read into memory, because the oldest of them is printed first. */
export const mostRecords = 100_000
/** Records of one query. */
const pageSize = 500

/** Prints the newest records by time, those after a number in its chain, or all; oldest first. Reports omitted ones. */
export function listAudit(options: ListAuditOptions, io: Io): Promise<ExitCode> {
  const { all = false, after } = options
  const limit = all ? Number.POSITIVE_INFINITY : (options.limit ?? defaultLimit)
  return withService(options, io, async ({ audit, store }, report) => {
    const { chains } = audit
    const heads = await audit.heads()
    if (heads.length === 0 && !options.json) io.out('The audit log is empty.')

    /** Prints records up to the limit. */
    async function print(records: Iterable<AuditRecord> | AsyncIterable<AuditRecord>) {
      let [shown, lastSeq] = [0, 0]
      for await (const record of records) {
        report({ event: 'audit', record }, (event) => [auditLine(event.record)])
        shown += 1
        lastSeq = record.seq
        if (io.signal.aborted) throw new InterruptedError('Interrupted; more records may follow.')
        if (shown === limit) break
      }
      return { shown, lastSeq }
    }

    if (after !== undefined) {
      const head = heads.find(({ seq }) => auditChainOf(seq, chains) === auditChainOf(after, chains))
      if (head === undefined) return
      const { shown, lastSeq } = await print(recordsUpTo(audit, head, after))
      if (shown > 0 && lastSeq < head.seq)
        report({ event: 'more', shown, newest: head.seq, after: lastSeq }, () => [
          `${grouped((head.seq - lastSeq) / chains)} more follow; continue with --after ${lastSeq}.`,
        ])
    } else if (all) await print(byTime(heads.map((head) => recordsUpTo(audit, head, 0))))
    else {
      const { shown } = await print(await newestRecords(store.console, limit))
      const written = auditTotal(
        heads.map(({ seq }) => seq),
        chains,
      )
      if (shown < written)
        report({ event: 'more', shown, newest: written }, () => [
          `The newest ${grouped(shown)} of ${grouped(written)} records; --all prints all.`,
        ])
    }
  })
}

/** Records of one chain after a number, up to its newest one. */
async function* recordsUpTo(audit: AuditQueries, head: AuditHead, after: number): AsyncGenerator<AuditRecord> {
  const chain = auditChainOf(head.seq, audit.chains)
  let afterSeq = after
  while (afterSeq < head.seq) {
    const page = await audit.list({ chain, afterSeq, limit: pageSize })
    for (const record of page) if (record.seq <= head.seq) yield record
    const last = page.at(-1)
    if (last === undefined) return
    afterSeq = last.seq
  }
}

/** Records of all chains, each in its order: of the next ones of all, the oldest comes first. */
async function* byTime(chains: readonly AsyncGenerator<AuditRecord>[]): AsyncGenerator<AuditRecord> {
  const nexts = await Promise.all(chains.map(async (chain) => ({ chain, next: await chain.next() })))
  for (;;) {
    const left = nexts.flatMap((each) => (each.next.done ? [] : { each, record: each.next.value }))
    const [oldest] = left.sort((a, b) => a.record.at - b.record.at || a.record.seq - b.record.seq)
    if (oldest === undefined) return
    yield oldest.record
    oldest.each.next = await oldest.each.chain.next()
  }
}

/** The newest records of all chains, oldest first. */
async function newestRecords({ audit }: Store['console'], limit: number): Promise<AuditRecord[]> {
  const records: AuditRecord[] = []
  while (records.length < limit) {
    const size = Math.min(pageSize, limit - records.length)
    const page = await audit({ before: records.at(-1), limit: size })
    records.push(...page)
    if (page.length < size) break
  }
  return records.reverse()
}

/** One line about a record. */
function auditLine({ seq, at, actor, action, subject, details }: AuditRecord): string {
  const facts = Object.entries(details).map(([name, value]) => `${name}=${plain(String(value))}`)
  return [String(seq).padStart(6), momentText(at), plain(actor), action, plain(subject), ...facts].join('  ')
}
