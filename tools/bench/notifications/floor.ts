/**
 * The floor as a separate process. It signs and posts the same bodies with the same HTTP client and concurrency,
 * without a database.
 * @module
 */
import { jobAt, inFlight as usual } from './jobs.js'
import { createPoster } from './sign-and-post.js'
import { answer, timed } from './worker.js'

const inFlight = Number(process.argv[3] ?? usual)
const { post, close } = createPoster(process.argv[2] ?? '', inFlight)

const floor = {
  /** Posts so many jobs. */
  async run({ from, count }: { readonly from: number; readonly count: number }) {
    const jobs = Array.from({ length: count }, (_, n) => jobAt(from + n))
    return timed(async () => {
      let next = 0
      async function work(): Promise<void> {
        for (let job = jobs[next]; job !== undefined; job = jobs[next]) {
          next += 1
          await post(job)
        }
      }
      await Promise.all(Array.from({ length: inFlight }, work))
    })
  },
}
export type Floor = typeof floor
answer(floor, close)
