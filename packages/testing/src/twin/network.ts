/** Carries notifications to the receivers of a test, with the faults of a plan, and records each arrival. @module */
import { deliveryTimeoutMs, type SnapshotBody } from '@payment-integration/contract'
import { excerptBytes, type Post, type PostResult, type Sender } from '@payment-integration/core/ports'
import type { Draws } from '../builders/draws.js'
import { type ChaosFault, type ChaosPlan, drawFault } from './chaos.js'

/** A receiver: any fetch handler. It gets the exact bytes and headers of the service. */
export type TwinReceiver = (request: Request) => Response | Promise<Response>

/**
 * The verdict of a correct receiver on an arrival.
 * - `apply`: acts on it: its version is greater than the stored one.
 * - `duplicate`: answers 2xx without an effect: that version is stored.
 * - `stale`: answers 2xx without an effect: a greater version is stored.
 * - `reject`: answers 4xx: its signature is too old by the receiver's clock.
 */
export type ExpectedVerdict = 'apply' | 'duplicate' | 'stale' | 'reject'

/** One request that arrived at a receiver. */
export interface TwinArrival {
  readonly integrationAddress: string
  readonly chainId: string
  readonly txHash: string
  readonly version: number
  /** Unix milliseconds of the twin's clock. */
  readonly at: number
  /** The fault of its attempt, or null. */
  readonly fault: ChaosFault | null
  readonly expected: ExpectedVerdict
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The signed bytes. */
  readonly body: Uint8Array
  /** Status of the answer; null when the receiver threw. */
  readonly status: number | null
}

/** The network of a twin. */
export interface TwinNetwork extends Sender {
  /** Connects a receiver to an address. */
  connect(url: string, receiver: TwinReceiver): void
  /** The faults of the next attempts; null: none. */
  chaos: ChaosPlan | null
  /** Every arrival, oldest first. */
  readonly arrivals: readonly TwinArrival[]
  /** Lets requests that are late arrive. Each arrives after the next request, or here. */
  deliverLate(): Promise<void>
  /** Milliseconds by which the clock of receivers is ahead at this moment. */
  skewMs(): number
}

/** The dependencies of a network. */
export interface TwinNetworkDeps {
  readonly draws: Draws
  readonly now: () => number
  /** Ends the service in the middle of the attempt and starts it again. */
  readonly restart: () => void
}

/** More than the tolerance of a receiver. */
const skewed = 360_000

/** Makes a network without receivers. */
export function createTwinNetwork({ draws, now, restart }: TwinNetworkDeps): TwinNetwork {
  const receivers = new Map<string, TwinReceiver>()
  const arrivals: TwinArrival[] = []
  /** Highest version that a receiver confirmed, by integration, chain and hash. */
  const confirmed = new Map<string, number>()
  let late: Post[] = []
  let skew = 0

  function verdictOf(name: string, version: number): ExpectedVerdict {
    if (skew > 0) return 'reject'
    const stored = confirmed.get(name)
    if (stored === undefined || version > stored) return 'apply'
    return version === stored ? 'duplicate' : 'stale'
  }

  async function arrive(post: Post, fault: ChaosFault | null): Promise<PostResult> {
    const { url, headers, body } = post
    const { integrationAddress, chainId, txHash, version } = JSON.parse(Buffer.from(body).toString()) as SnapshotBody
    const name = `${integrationAddress}/${chainId}/${txHash}`
    const expected = verdictOf(name, version)
    const receiver = receivers.get(url)
    if (receiver === undefined) return { kind: 'failure', reason: 'connection', latencyMs: 0 }
    const answer = await answerOf(receiver, post)
    if (expected === 'apply' && answer?.ok === true) confirmed.set(name, version)
    const arrival = { integrationAddress, chainId, txHash, version, at: now(), fault, expected, url, headers, body }
    arrivals.push({ ...arrival, status: answer?.status ?? null })
    if (answer === null) return { kind: 'failure', reason: 'connection', latencyMs: 0 }
    const text = await answer.text().catch(() => null)
    const retryAfter = answer.headers.get('retry-after')
    return { kind: 'answer', status: answer.status, retryAfter, excerpt: excerptOf(text), latencyMs: 0 }
  }

  async function deliverLate(): Promise<void> {
    const waiting = late
    late = []
    for (const post of waiting) await arrive(post, 'late')
  }

  async function postWith(fault: ChaosFault | null, post: Post): Promise<PostResult> {
    switch (fault) {
      case 'lost':
        return { kind: 'failure', reason: 'connection', latencyMs: 0 }
      case 'late':
        late.push(post)
        return timedOut
      case 'slow':
        await arrive(post, fault)
        return timedOut
      case 'duplicate': {
        const result = await arrive(post, fault)
        await arrive(post, fault)
        return result
      }
      case 'skew':
        skew = skewed
        return arrive(post, fault).finally(() => {
          skew = 0
        })
      case 'restart':
        await arrive(post, fault)
        await deliverLate()
        restart()
        // The process that waits for this answer is gone.
        return new Promise(() => undefined)
      case null:
        return arrive(post, fault)
    }
  }

  return {
    arrivals,
    chaos: null,
    connect: (url, receiver) => void receivers.set(url, receiver),
    deliverLate,
    skewMs: () => skew,
    async post(post) {
      const fault = drawFault(this.chaos, draws)
      // Another late request waits for the next one, too.
      if (fault === 'late') return postWith(fault, post)
      const result = await postWith(fault, post)
      await deliverLate()
      return result
    },
  }
}

const timedOut: PostResult = { kind: 'failure', reason: 'timeout', latencyMs: deliveryTimeoutMs }

/** Null when the receiver throws: its server would close the connection. */
async function answerOf(receiver: TwinReceiver, { url, headers, body }: Post): Promise<Response | null> {
  try {
    return await receiver(new Request(url, { method: 'POST', headers, body: new Uint8Array(body) }))
  } catch {
    return null
  }
}

function excerptOf(text: string | null): string | null {
  return text === null || text === '' ? null : text.slice(0, excerptBytes).replace(/\p{Cc}/gu, ' ')
}
