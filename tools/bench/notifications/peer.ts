/** A queue library as a separate process: its jobs hold the body, its handler signs and posts. @module */
import { inFlight, type Job, jobAt } from './jobs.js'
import { openPeer, type PeerName } from './peers.js'
import { type Pace, publishAt } from './publish.js'
import { createPoster } from './sign-and-post.js'
import { answer, timed } from './worker.js'

/** Jobs per call while a backlog is prepared. */
const batch = 500

const [name = '', folder = '', databaseUrl = '', receiverUrl = ''] = process.argv.slice(2)
const poster = createPoster(receiverUrl)
let done = 0
let onDone: () => void = () => {}
const queue = await openPeer(name as PeerName, folder, databaseUrl, inFlight, async (job) => {
  await poster.post(job)
  done += 1
  onDone()
})

interface Places {
  readonly from: number
  readonly count: number
}

const jobsAt = ({ from, count }: Places): Job[] => Array.from({ length: count }, (_, n) => jobAt(from + n))

/** Resolves once so many jobs were handled; the library may still be recording the last ones. */
function handled(count: number): Promise<void> {
  const until = done + count
  return new Promise((resolve) => {
    onDone = () => done >= until && resolve()
  })
}

const peer = {
  async prepare({ from, count }: Places) {
    for (let sent = 0; sent < count; sent += batch)
      await queue.add(jobsAt({ from: from + sent, count: Math.min(batch, count - sent) }))
  },
  async run({ count }: Places) {
    const taken = await timed(async () => {
      const all = handled(count)
      await queue.start()
      await all
    })
    await queue.stop()
    return taken
  },
  async publish(pace: Pace) {
    const total = Math.round(pace.perSecond * pace.seconds)
    const made = jobsAt({ from: pace.from, count: total })
    const all = handled(total)
    await queue.start()
    const committed = await publishAt(pace, ({ from, count }) =>
      queue.add(made.slice(from - pace.from, from - pace.from + count)),
    )
    await all
    await queue.stop()
    return committed
  },
}
export type Peer = typeof peer
answer(peer, async () => {
  await queue.close()
  await poster.close()
})
