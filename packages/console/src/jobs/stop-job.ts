/** Asks a job to end. @module */
import type { Act } from '../acts/act.js'
import { ActError } from '../acts/act-error.js'
import { jobPath } from './job-pages.js'

/** Field `id`: the job. Leads to its page. */
export const stopJobAct: Act = {
  needs: 'operator',
  async run({ fields, jobs, commands }) {
    const job = jobs.find(fields['id'] ?? '')
    if (job === null) throw new ActError('There is no such job in this process. After a restart no job is left.')
    const { id, title, actor } = job
    if (job.state === 'running')
      await commands.recordAct({ action: 'job.stopped', subject: id, details: { title, startedBy: actor } })
    jobs.stop(id)
    return { to: jobPath(job) }
  },
}
