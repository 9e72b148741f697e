/** Makes all deliveries of a filter due, as a job. @module */
import { deliveryFilter, FilterError } from '../filters.js'
import { jobPath } from '../jobs/job-pages.js'
import { mostCounted } from '../pages/replay-many.js'
import { grouped } from '../view/text.js'
import type { Act } from './act.js'

/** Fields: the filter of the page of deliveries, with a status. Leads to the job. */
export const replayManyAct: Act = {
  needs: 'operator',
  async run({ fields, commands, jobs, visit }) {
    const filter = deliveryFilter(fields)
    const { status } = filter
    if (status === undefined) throw new FilterError('Choose a status first: many deliveries are replayed by status.')
    const counted = await commands.deliveries.count(filter, { atMost: mostCounted + 1 })
    // A larger total is unknown.
    const total = counted > mostCounted ? null : counted
    const job = jobs.start({
      title: `Replay of ${status} deliveries`,
      actor: visit.actor,
      total,
      async run(report, signal) {
        const onProgress = ({ replayed, underWay }: { replayed: number; underWay: number }) => {
          const skipped = underWay === 0 ? '' : ` ${grouped(underWay)} were skipped: their attempt is in flight.`
          report({ done: replayed + underWay, words: `${grouped(replayed)} are due now.${skipped}` })
        }
        onProgress(await commands.deliveries.replayAll(filter, { onProgress, signal }))
      },
    })
    return { to: jobPath(job) }
  },
}
