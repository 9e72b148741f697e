/** Asks a job to end. @module */
import type { Act } from '../acts/act.js'
import { ActError } from '../acts/act-error.js'
import { jobPath } from './job-pages.js'

/** Field `id`: the job. Leads to its page. */
export const stopJobAct: Act = {
  needs: 'operator',
  async run({ fields, jobs }) {
    const job = jobs.stop(fields['id'] ?? '')
    if (job === null) throw new ActError('There is no such job in this process. After a restart no job is left.')
    return { to: jobPath(job) }
  },
}
