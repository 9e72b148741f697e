/** A queue library as a separate process: its jobs hold the body, its handler signs and posts. @module */
import { batch, inFlight, type Places } from '../payments.js'
import { answer, timed } from '../processes.js'
import { openPeer, type PeerName } from './peers.js'
import { createPoster, jobsAt, type Pace, publishAt } from './publish.js'

const [name = '', folder = '', databaseUrl = '', receiverUrl = ''] = process.argv.slice(2)
const poster = createPoster(receiverUrl)
let done = 0
let onDone: () => void = () => {}
const queue = await openPeer(name as PeerName, folder, databaseUrl, inFlight, async (job) => {
  await poster.post(job)
  done += 1
  onDone()
})

/** Resolves once `count` more jobs were handled; the library may still be recording the last of them. */
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
    const time = await timed(async () => {
      const all = handled(count)
      await queue.start()
      await all
    })
    await queue.stop()
    return time
  },
  async publish(pace: Pace) {
    const jobs = jobsAt(pace)
    const all = handled(pace.count)
    await queue.start()
    const committed = await publishAt(pace, ({ from, count }) =>
      queue.add(jobs.slice(from - pace.from, from - pace.from + count)),
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
