/** Checks the audit log from its first record to its last, as a job. @module */
import { jobPath } from '../jobs/job-pages.js'
import { grouped } from '../view/text.js'
import type { Act } from './act.js'

/** Leads to the job. */
export const verifyAuditAct: Act = {
  needs: 'operator',
  async run({ service: { audit }, jobs, visit }) {
    const head = await audit.head()
    const job = jobs.start({
      title: 'Check of the audit log',
      actor: visit.actor,
      total: head?.seq ?? 0,
      async run(report, signal) {
        const onProgress = (done: number) => report({ done, words: `${grouped(done)} records are intact so far.` })
        const { records, last, brokenAt } = await audit.verify({ onProgress, signal })
        if (brokenAt !== null) {
          report.row({
            word: 'broken',
            tone: 'bad',
            text: `Record ${brokenAt} is missing, altered, or keyed with a master key that is not configured.`,
            path: `/audit?before=${brokenAt + 1}`,
          })
          report({ done: records, words: `The ${grouped(records)} records before number ${brokenAt} are intact.` })
        } else if (last === null) report({ words: 'The audit log is empty.' })
        else {
          report({ done: records, words: `All ${grouped(records)} records are intact.` })
          report.row({
            word: 'newest',
            text: `${last.seq}:${last.hash}`,
            remarks: [
              'Store it outside the database: payment-integration audit verify --expect then finds removed newest records.',
            ],
          })
        }
      },
    })
    return { to: jobPath(job) }
  },
}
