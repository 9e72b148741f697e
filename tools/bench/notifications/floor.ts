/**
 * The floor as a separate process. It signs and posts the same bodies with the same HTTP client and concurrency,
 * without a database.
 * @module
 */
import { inFlight, type Places } from '../payments.js'
import { answer, timed } from '../processes.js'
import { createPoster, jobsAt } from './publish.js'

const { post, close } = createPoster(process.argv[2] ?? '')

const floor = {
  /** Posts the jobs of a range. */
  async run(places: Places) {
    const jobs = jobsAt(places).values()
    const work = async () => {
      for (const job of jobs) await post(job)
    }
    return timed(async () => {
      await Promise.all(Array.from({ length: inFlight }, work))
    })
  },
}
export type Floor = typeof floor
answer(floor, close)
