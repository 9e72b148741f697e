/** Checks the audit log from its first records to its last, as a job. @module */
import type { AuditQueries } from '@payment-integration/core'
import { auditChainOf, auditTotal } from '@payment-integration/core/ports'
import { auditPositionText } from '../filters.js'
import { jobPath } from '../jobs/job-pages.js'
import { grouped } from '../view/text.js'
import type { Act } from './act.js'

/** Leads to the job. */
export const verifyAuditAct: Act = {
  needs: 'operator',
  async run({ service: { audit }, jobs, visit }) {
    const seqs = (await audit.heads()).map(({ seq }) => seq)
    const job = jobs.start({
      title: 'Check of the audit log',
      actor: visit.actor,
      total: auditTotal(seqs, audit.chains),
      async run(report, signal) {
        const onProgress = (done: number) => report({ done, words: `${grouped(done)} records are intact so far.` })
        const { records, heads, brokenAt } = await audit.verify({ onProgress, signal })
        for (const seq of brokenAt)
          report.row({
            word: 'broken',
            tone: 'bad',
            text: `Record ${seq} is missing, altered, or keyed with a master key that is not configured.`,
            path: await pathOf(audit, seq),
          })
        if (brokenAt.length > 0)
          report({
            done: records,
            words: `${grouped(records)} records are intact; those that follow a broken one are not checked.`,
          })
        else if (heads.length === 0) report({ words: 'The audit log is empty.' })
        else {
          report({ done: records, words: `All ${grouped(records)} records are intact.` })
          for (const { seq, hash } of heads)
            report.row({ word: 'newest', text: `${seq}:${hash}`, remarks: [storeText] })
        }
      },
    })
    return { to: jobPath(job) }
  },
}

const storeText =
  'Store it outside the database: payment-integration audit verify --expect then finds removed newest records.'

/** The page whose first record has this number, or is the one after it in its chain. */
async function pathOf({ chains, list }: AuditQueries, seq: number): Promise<string> {
  const [found] = await list({ chain: auditChainOf(seq, chains), afterSeq: seq - 1, limit: 1 })
  return found === undefined ? '/audit' : `/audit?before=${auditPositionText({ at: found.at, seq: found.seq + 1 })}`
}
