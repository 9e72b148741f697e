/** A queue library as a separate process: its jobs hold the body, its handler signs and posts. @module */
import { batch, inFlight, type PaymentRange } from '../payments.js'
import { answer, measureTime } from '../processes.js'
import { openPeer, type PeerName } from './peers.js'
import { createCounter, createPoster, jobsAt, type Pace, publishAt } from './publish.js'

const [name = '', folder = '', databaseUrl = '', receiverUrl = ''] = process.argv.slice(2)
const poster = createPoster(receiverUrl)
const handled = createCounter()
const queue = await openPeer(name as PeerName, folder, databaseUrl, inFlight, async (job) => {
  await poster.post(job)
  handled.count()
})

const peer = {
  async prepare({ from, count }: PaymentRange) {
    for (let sent = 0; sent < count; sent += batch)
      await queue.add(jobsAt({ from: from + sent, count: Math.min(batch, count - sent) }))
  },
  async run({ count }: PaymentRange) {
    const time = await measureTime(async () => {
      const allHandled = handled.waitFor(count)
      await queue.start()
      await allHandled
    })
    // The library may still be recording the last jobs.
    await queue.stop()
    return time
  },
  async publish(pace: Pace) {
    const jobs = jobsAt(pace)
    const allHandled = handled.waitFor(pace.count)
    await queue.start()
    const committed = await publishAt(pace, ({ from, count }) =>
      queue.add(jobs.slice(from - pace.from, from - pace.from + count)),
    )
    await allHandled
    await queue.stop()
    return committed
  },
}
export type Peer = typeof peer
answer(peer, async () => {
  await queue.close()
  await poster.close()
})
