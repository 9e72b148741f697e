/** Signs and posts jobs, and publishes at a steady rate, for every way to deliver. @module */
import { createHmac } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Agent } from 'undici'
import { inFlight, integrations, type Job, jobAt, type PaymentRange } from '../payments.js'
import { readClockUs } from '../processes.js'

export const jobsAt = ({ from, count }: PaymentRange): Job[] => Array.from({ length: count }, (_, n) => jobAt(from + n))

/** Counts finished deliveries. */
export function createCounter() {
  let counted = 0
  let onCount: () => void = () => {}
  return {
    count() {
      counted += 1
      onCount()
    },
    /** Resolves after `more` further deliveries. */
    waitFor(more: number): Promise<void> {
      const goal = counted + more
      return new Promise((resolve) => {
        onCount = () => counted >= goal && resolve()
      })
    },
  }
}

/** Builds the function that signs and posts: the loop body of the floor, and the handler of a queue. */
export function createPoster(receiverUrl: string): { post(job: Job): Promise<void>; close(): Promise<void> } {
  const agent = new Agent({ connections: inFlight, keepAliveTimeout: 4_000 })
  const secrets = new Map(integrations.map((address) => [address, `pi_whsec_${address}`]))
  return {
    async post({ integrationAddress, body }) {
      const timestamp = Math.floor(Date.now() / 1_000)
      const bytes = Buffer.from(body)
      const code = createHmac('sha256', secrets.get(integrationAddress) ?? '')
        .update(`${timestamp}.`)
        .update(bytes)
        .digest('hex')
      const headers = {
        'Content-Type': 'application/json; charset=utf-8',
        'User-Agent': 'payment-integration',
        'X-Service-Integration': integrationAddress,
        'X-Service-Signature': `t=${timestamp},v1=${code}`,
      }
      const path = `/hooks/${integrationAddress}`
      const answer = await agent.request({ origin: receiverUrl, path, method: 'POST', headers, body: bytes })
      await answer.body.dump()
      if (answer.statusCode !== 204) throw new Error(`The receiver answered ${answer.statusCode}.`)
    },
    close: () => agent.close(),
  }
}

/** Time from one commit to the next. */
const commitIntervalMs = 10

/** The jobs to publish, and their rate. */
export interface Pace extends PaymentRange {
  readonly perSecond: number
}

/** When jobs were committed, on the steady clock. */
export interface Committed extends PaymentRange {
  readonly atUs: number
}

/** Commits a part every 10 ms at the given rate. A commit that takes longer delays the next part. */
export async function publishAt(pace: Pace, commit: (range: PaymentRange) => Promise<unknown>) {
  const { from, count: total, perSecond } = pace
  const committed: Committed[] = []
  const startedAt = performance.now()
  for (let published = 0; published < total; ) {
    const dueMs = performance.now() - startedAt
    const count = Math.min(total, Math.ceil((dueMs / 1_000) * perSecond)) - published
    if (count > 0) {
      await commit({ from: from + published, count })
      committed.push({ from: from + published, count, atUs: readClockUs() })
      published += count
    }
    await wait(Math.max(1, commitIntervalMs - ((performance.now() - startedAt) % commitIntervalMs)))
  }
  return committed
}
