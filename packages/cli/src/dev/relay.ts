/** Stands between the service and the user's receiver, and makes the network between them faulty on demand. @module */
import { type ChaosFault, createChaos } from '@payment-integration/testing/twin'
import type { Forwarded, ForwardedDelivery } from '../forward.js'
import type { DemoSink } from './demo-events.js'

/** Posts a delivery to the user's receiver. */
export type Forward = (delivery: ForwardedDelivery) => Promise<Forwarded>

/** A relay to one receiver. */
export interface Relay {
  /** Forwards a delivery. A status of null closes the connection of the service without an answer. */
  pass(delivery: ForwardedDelivery): Promise<Pick<Forwarded, 'status' | 'retryAfter'>>
  /** Turns the faults on or off; returns whether they are on. */
  toggleChaos(): boolean
}

/** Faults of a network alone: the clock and the process of the service stay as they are. */
const plan = { duplicate: 15, late: 10, lost: 10, slow: 10 } as const

const noAnswer = { status: null, retryAfter: null }

/** Creates a relay. Advice is reported once, until it changes or a delivery succeeds. */
export function createRelay(url: string, forwardTo: Forward, seed: number, report: DemoSink): Relay {
  const chaos = createChaos({ seed, plan })
  let isFaulty = false
  let lastAdvice: string | null = null
  let late: ForwardedDelivery[] = []

  async function forward(delivery: ForwardedDelivery): Promise<Forwarded> {
    const answer = await forwardTo(delivery)
    const { problem: advice, status } = answer
    if (advice !== null && advice !== lastAdvice) report({ event: 'forward.failed', url, status, advice })
    lastAdvice = advice
    return answer
  }

  async function forwardAll(waiting: readonly ForwardedDelivery[]): Promise<void> {
    for (const earlier of waiting) await forward(earlier)
  }

  function takeLate(): ForwardedDelivery[] {
    const waiting = late
    late = []
    return waiting
  }

  async function passWith(fault: ChaosFault | null, delivery: ForwardedDelivery) {
    if (fault === 'lost') return noAnswer
    if (fault === 'late') {
      late.push(delivery)
      return noAnswer
    }
    const answer = await forward(delivery)
    if (fault === 'duplicate') await forward(delivery)
    return fault === 'slow' ? noAnswer : answer
  }

  return {
    async pass(delivery) {
      const waiting = takeLate()
      const answer = await passWith(isFaulty ? chaos.next() : null, delivery)
      // The service does not wait for them: its time is limited.
      void forwardAll(waiting)
      return answer
    },
    toggleChaos() {
      isFaulty = !isFaulty
      if (!isFaulty) void forwardAll(takeLate())
      return isFaulty
    },
  }
}
