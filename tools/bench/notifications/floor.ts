/** The floor process: posts the same signed bodies with the same client and concurrency, but no database. @module */
import { inFlight, type PaymentRange } from '../payments.js'
import { answer, measureTime } from '../processes.js'
import { createPoster, jobsAt } from './publish.js'

const { post, close } = createPoster(process.argv[2] ?? '')

const floor = {
  /** Posts the jobs of a range. */
  async run(range: PaymentRange) {
    const jobs = jobsAt(range).values()
    const work = async () => {
      for (const job of jobs) await post(job)
    }
    return measureTime(async () => {
      await Promise.all(Array.from({ length: inFlight }, work))
    })
  },
}
export type Floor = typeof floor
answer(floor, close)
