/** Carries notifications to a test's receivers, with random faults, and records arrivals. @module */
import { deliveryTimeoutMs, type SnapshotBody } from '@payment-integration/contract'
import { excerptBytes } from '@payment-integration/core/internal'
import type { PostRequest, PostResult } from '@payment-integration/core/ports'
import { createDraws, type Draws } from '../builders.js'

/**
 * A fault of one attempt.
 * - `duplicate`: the request arrives twice.
 * - `late`: the service gives up; the request arrives after the next one.
 * - `lost`: the request never arrives.
 * - `slow`: the request arrives, and its answer comes after the service gave up.
 * - `skew`: the clock of the receiver is six minutes ahead.
 * - `restart`: the service ends before it records the answer, and starts again.
 */
export type ChaosFault = 'duplicate' | 'late' | 'lost' | 'slow' | 'skew' | 'restart'

/** The percentage of attempts that each fault hits; at most 100 together. */
export type ChaosPlan = { readonly [Fault in ChaosFault]?: number | undefined }

const faults = ['duplicate', 'late', 'lost', 'slow', 'skew', 'restart'] as const satisfies readonly ChaosFault[]

/** Half of the attempts are hit. Skew and restart are half as frequent as each other fault. */
export const chaosDefaults: ChaosPlan = { duplicate: 10, late: 10, lost: 10, slow: 10, skew: 5, restart: 5 }

/** @throws {TypeError} For an unknown fault. @throws {RangeError} For a share or a sum that is no percentage. */
export function checkChaos(plan: ChaosPlan): ChaosPlan {
  for (const [fault, share = 0] of Object.entries(plan)) {
    if (!(faults as readonly string[]).includes(fault))
      throw new TypeError(`${fault} is no fault; there are ${faults.join(', ')}.`)
    if (!Number.isInteger(share) || share < 0 || share > 100)
      throw new RangeError(`${fault} is ${share}; pass a whole number of attempts in a hundred.`)
  }
  const sum = faults.reduce((total, fault) => total + (plan[fault] ?? 0), 0)
  if (sum > 100) throw new RangeError(`The faults hit ${sum} attempts of a hundred; pass 100 at most.`)
  return plan
}

/** A sequence of faults. */
export interface Chaos {
  /** The fault of the next attempt, or null. */
  next(): ChaosFault | null
}

/**
 * Creates the sequence of faults for a seed, for use in your own proxy or test harness.
 * @param options - `seed`: a whole number from 0 to 4294967295. `plan`: percentage of attempts by fault; by default
 * duplicate, late, lost, slow 10 each; skew, restart 5 each.
 * @throws {TypeError} For an unknown fault. @throws {RangeError} For a seed or a share out of range.
 * @example
 * import { createChaos } from '@payment-integration/testing/twin'
 * const chaos = createChaos({ seed: 7, plan: { lost: 20 } })
 * if (chaos.next() === 'lost') console.log('this attempt never arrives')
 */
export function createChaos({ seed, plan = chaosDefaults }: { seed: number; plan?: ChaosPlan | undefined }): Chaos {
  const draws = createDraws(seed)
  checkChaos(plan)
  return { next: () => drawFault(plan, draws) }
}

/** Draws the next attempt's fault, or null. Every plan takes exactly one draw per attempt. */
function drawFault(plan: ChaosPlan | null, draws: Draws): ChaosFault | null {
  let remaining = draws.integer(0, 99)
  for (const fault of faults) {
    remaining -= plan?.[fault] ?? 0
    if (remaining < 0) return fault
  }
  return null
}

/** A receiver, which is any fetch handler. It gets the exact bytes and headers that the service sends. */
export type TwinReceiver = (request: Request) => Response | Promise<Response>

/**
 * The verdict of a correct receiver on an arrival.
 * - `apply`: has an effect: the version is greater than the stored one.
 * - `duplicate`: answers 2xx without an effect: the same version is stored.
 * - `stale`: answers 2xx without an effect: a greater version is stored.
 * - `reject`: answers 4xx: the signature is too old by the receiver's clock.
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

export type TwinNetwork = ReturnType<typeof createTwinNetwork>

/** The error of a skewed clock in milliseconds; it exceeds a receiver's tolerance. */
const clockSkewMs = 360_000

/** @param deps - `restart` ends the service during the attempt, and starts it again. */
export function createTwinNetwork(deps: {
  readonly draws: Draws
  readonly clock: { now(): number }
  readonly restart: () => void
}) {
  const { draws, clock, restart } = deps
  const receivers = new Map<string, TwinReceiver>()
  const arrivals: TwinArrival[] = []
  /** Highest version that a receiver confirmed, by integration, chain and hash. */
  const confirmed = new Map<string, number>()
  const late: PostRequest[] = []
  let currentSkewMs = 0

  function computeVerdict(paymentKey: string, version: number): ExpectedVerdict {
    if (currentSkewMs > 0) return 'reject'
    const stored = confirmed.get(paymentKey)
    if (stored === undefined || version > stored) return 'apply'
    return version === stored ? 'duplicate' : 'stale'
  }

  async function arrive(post: PostRequest, fault: ChaosFault | null): Promise<PostResult> {
    const { url, headers, body } = post
    const { integrationAddress, chainId, txHash, version } = JSON.parse(Buffer.from(body).toString()) as SnapshotBody
    const paymentKey = `${integrationAddress}/${chainId}/${txHash}`
    const expected = computeVerdict(paymentKey, version)
    const receiver = receivers.get(url)
    if (receiver === undefined) return { kind: 'failure', reason: 'connection', latencyMs: 0 }
    const answer = await callReceiver(receiver, post)
    if (expected === 'apply' && answer?.ok === true) confirmed.set(paymentKey, version)
    const at = clock.now()
    const arrival = { integrationAddress, chainId, txHash, version, at, fault, expected, url, headers, body }
    arrivals.push({ ...arrival, status: answer?.status ?? null })
    if (answer === null) return { kind: 'failure', reason: 'connection', latencyMs: 0 }
    const text = await answer.text().catch(() => '')
    const excerpt = text === '' ? null : text.slice(0, excerptBytes).replace(/\p{Cc}/gu, ' ')
    const retryAfter = answer.headers.get('retry-after')
    return { kind: 'answer', status: answer.status, retryAfter, excerpt, latencyMs: 0 }
  }

  /** Lets late requests arrive, which otherwise arrive after the next request. */
  async function deliverLate(): Promise<void> {
    for (const post of late.splice(0)) await arrive(post, 'late')
  }

  async function postWith(fault: ChaosFault | null, post: PostRequest): Promise<PostResult> {
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
        currentSkewMs = clockSkewMs
        return arrive(post, fault).finally(() => {
          currentSkewMs = 0
        })
      case 'restart':
        await arrive(post, fault)
        await deliverLate()
        restart()
        // The process that waited for this answer has ended.
        return new Promise(() => undefined)
      case null:
        return arrive(post, fault)
    }
  }

  return {
    /** Every arrival, oldest first. */
    arrivals: arrivals as readonly TwinArrival[],
    /** The faults of the next attempts; null: none. */
    chaos: null as ChaosPlan | null,
    connect: (url: string, receiver: TwinReceiver) => void receivers.set(url, receiver),
    deliverLate,
    /** Milliseconds by which the clock of receivers is ahead at this moment. */
    skewMs: () => currentSkewMs,
    async post(post: PostRequest): Promise<PostResult> {
      const fault = drawFault(this.chaos, draws)
      const result = await postWith(fault, post)
      // Late requests arrive after the next request that is not late itself.
      if (fault !== 'late') await deliverLate()
      return result
    },
  }
}

const timedOut: PostResult = { kind: 'failure', reason: 'timeout', latencyMs: deliveryTimeoutMs }

/** Calls the receiver; null when it throws, because its server would close the connection. */
async function callReceiver(receiver: TwinReceiver, { url, headers, body }: PostRequest): Promise<Response | null> {
  try {
    return await receiver(new Request(url, { method: 'POST', headers, body: new Uint8Array(body) }))
  } catch {
    return null
  }
}
