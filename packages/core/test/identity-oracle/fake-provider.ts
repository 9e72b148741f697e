/**
 * An identity provider in memory, by its documentation, with faults. What it did is the truth that the judge follows.
 * @module
 */
import type {
  Applicant,
  DatedReview,
  IdentityProvider,
  ProviderAnswer,
  RedeemResult,
  Review,
} from '../../src/ports/identity.js'
import type { Clock } from '../../src/ports/runtime.js'
import type { Dice } from './dice.js'
import type { WebhookEvent } from './system-under-test.js'

/** What happens to a call: `late` loses the answer, and the request may still arrive afterwards. */
type Fault = 'none' | 'lostBefore' | 'lostAfter' | 'late' | 'throttled' | 'misconfigured' | 'rejected'
type Result = RedeemResult | ProviderAnswer<Applicant | null> | ProviderAnswer<DatedReview | null>

export interface ProviderCall {
  readonly kind: 'redeem' | 'find' | 'review'
  readonly process: number
  /** The external user id, or for `review` the applicant id. */
  readonly name: string
  readonly token: string | null
  readonly sendBy: number
  readonly signedAt: number
  readonly fault: Fault
  /** It arrives no earlier than that. */
  readonly earliest: number
  landed: boolean
  /** What the provider answers; set when the request arrives or can no longer. */
  result: Result | null
  /** What the process heard; null while it waits. */
  answer: Result | null
}

export interface FakeApplicant {
  readonly applicantId: string
  readonly externalUserId: string
  /** Oldest first. */
  readonly reviews: DatedReview[]
  deleted: boolean
}

/** Something that may happen at the provider or on the way from it. */
export interface Step {
  readonly process: number
  readonly label: string
  run(): void
}

export type FakeProvider = ReturnType<typeof fakeProvider>

/** How old a signature may be when a request arrives. */
export const signatureMs = 60_000
const tokenMs = 1_200_000
const init: Review = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }
const rejections = {
  throttled: { kind: 'throttled', retryAfterMs: null },
  misconfigured: { kind: 'misconfigured', reason: 'signature of the service rejected' },
} as const

export function fakeProvider(options: { clock: Clock; dice: Dice; findsByName: boolean }) {
  const { clock, dice, findsByName } = options
  /** How often a call fails, and how many verdicts approve. */
  const rates = { faultRate: 0, greenRate: 0.5 }
  const tokens = new Map<string, { readonly mintedAt: number; readonly bad: boolean; used: boolean }>()
  const applicants = new Map<string, FakeApplicant>()
  const calls: ProviderCall[] = []
  const events: WebhookEvent[] = []
  const waiting = new Map<ProviderCall, (answer: never) => void>()
  const open = new Set<ProviderCall>()

  const redeem = ({ name, token, signedAt, fault }: ProviderCall): RedeemResult => {
    if (fault === 'throttled' || fault === 'misconfigured') return rejections[fault]
    if (clock.now() > signedAt + signatureMs) return { kind: 'unknown', reason: 'signature too old' }
    const found = tokens.get(token ?? '')
    const reject = (why: string) => ({ kind: 'rejected', message: `${why}: ${token}`, providerCode: null }) as const
    if (fault === 'rejected' || found === undefined || found.bad) return reject('applicant not approved')
    if (found.used) return reject('token used already')
    if (clock.now() > found.mintedAt + tokenMs) return reject('token expired')
    if (applicants.has(name)) return { kind: 'unknown', reason: 'name is given already' }
    found.used = true
    const review = dice.chance(0.5) ? init : null
    const applicantId = `applicant-${applicants.size + 1}`
    const reviews = [{ review: init, reviewedAt: null }]
    applicants.set(name, { applicantId, externalUserId: name, deleted: false, reviews })
    return { kind: 'redeemed', applicant: { applicantId, review, reviewedAt: null } }
  }
  const ask = ({ kind, name, fault }: ProviderCall): Result => {
    if (fault === 'throttled' || fault === 'misconfigured') return rejections[fault]
    const all = [...applicants.values()].filter(({ deleted }) => !deleted)
    if (kind === 'review') {
      const value = all.find(({ applicantId }) => applicantId === name)?.reviews.at(-1) ?? null
      return { kind: 'answer', value }
    }
    const found = findsByName ? all.find(({ externalUserId }) => externalUserId === name) : undefined
    const review = found?.reviews.at(-1)
    const value = found && review ? { applicantId: found.applicantId, ...review } : null
    return { kind: 'answer', value }
  }
  const lost = ({ kind }: ProviderCall): Result =>
    ({ kind: kind === 'redeem' ? 'unknown' : 'unavailable', reason: 'connection lost' }) as Result
  const expired = (call: ProviderCall) => call.kind === 'redeem' && clock.now() > call.signedAt + signatureMs
  const mayLand = (call: ProviderCall) =>
    !call.landed && call.fault !== 'lostBefore' && call.result?.kind !== 'unsent' && !expired(call)

  const call = <T>(kind: ProviderCall['kind'], process: number, name: string, token: string | null, sendBy: number) =>
    new Promise<T>((resolve) => {
      const now = clock.now()
      const faults: readonly Fault[] = ['lostBefore', 'lostAfter', 'late', 'throttled', 'misconfigured']
      const ofKind: readonly Fault[] = kind === 'redeem' ? [...faults, 'rejected'] : faults
      const fault = dice.chance(rates.faultRate) ? dice.pick(ofKind) : 'none'
      const made: ProviderCall = {
        ...{ kind, process, name, token, sendBy, signedAt: now, fault },
        earliest: fault === 'late' ? now + 1 + dice.below(20_000) : now,
        ...{ landed: false, result: now > sendBy ? { kind: 'unsent' } : null, answer: null },
      }
      calls.push(made)
      open.add(made)
      waiting.set(made, resolve as (answer: never) => void)
    })
  const land = (made: ProviderCall): Step => ({
    process: -1,
    label: `${made.kind} ${made.name} arrives at the provider (${made.fault})`,
    run() {
      made.landed = true
      const result = made.kind === 'redeem' ? redeem(made) : ask(made)
      made.result = made.fault === 'lostAfter' || made.fault === 'late' ? lost(made) : result
    },
  })
  const answer = (made: ProviderCall): Step => ({
    process: made.process,
    label: `process ${made.process} hears about ${made.kind} ${made.name}`,
    run() {
      made.answer = made.result ?? lost(made)
      waiting.get(made)?.(made.answer as never)
      waiting.delete(made)
    },
  })

  return Object.assign(rates, {
    port: (process: number): IdentityProvider => ({
      findsByName,
      redeem: ({ externalUserId, shareToken, sendBy }) => call('redeem', process, externalUserId, shareToken, sendBy),
      find: (externalUserId) => call('find', process, externalUserId, null, Number.POSITIVE_INFINITY),
      review: (applicantId) => call('review', process, applicantId, null, Number.POSITIVE_INFINITY),
    }),
    /** Frozen and killed processes are the world's business: it drops the answers to them. */
    steps() {
      const steps: Step[] = []
      for (const made of open) {
        const arrives = mayLand(made)
        if (arrives && clock.now() >= made.earliest) steps.push(land(made))
        const answerable = made.result !== null || made.fault === 'lostBefore' || made.fault === 'late' || expired(made)
        if (made.answer === null && answerable) steps.push(answer(made))
        if (made.answer !== null && !arrives) open.delete(made)
      }
      return steps
    },
    mint(bad: boolean) {
      const token = `token-${tokens.size + 1}`
      tokens.set(token, { mintedAt: clock.now(), bad, used: false })
      return token
    },
    /** Gives the applicant its next review. @param aheadMs - How far the provider's clock is ahead. */
    decide(applicant: FakeApplicant, aheadMs: number) {
      const { applicantId, externalUserId, reviews } = applicant
      const { greenRate } = rates
      const label = `LABEL_${events.length}`
      const next = nextReview(reviews, { dice, greenRate, label, now: clock.now() + aheadMs })
      const { review, reviewedAt: at } = next
      reviews.push(next)
      if (at !== null) events.push({ key: `event-${events.length + 1}`, applicantId, externalUserId, review, at })
      return next
    },
    canStillLand: (name: string) => calls.some((made) => made.kind === 'redeem' && made.name === name && mayLand(made)),
    ...{ calls, events, findsByName },
    /** By external user id. */
    applicants: applicants as ReadonlyMap<string, FakeApplicant>,
  })
}

/**
 * The next review: a verdict with a later time than all before, or once in a while, before the first verdict, a status
 * without a time.
 * @param label - Tells this rejection from others.
 */
function nextReview(
  before: readonly DatedReview[],
  options: { dice: Dice; now: number; greenRate: number; label: string },
): DatedReview {
  const { dice, now, greenRate, label } = options
  const newest = before.reduce((latest, { reviewedAt }) => Math.max(latest, reviewedAt ?? 0), 0)
  if (newest === 0 && dice.chance(0.2)) {
    const reviewStatus = dice.pick(['pending', 'prechecked', 'onHold'] as const)
    return { review: { ...init, reviewStatus }, reviewedAt: null }
  }
  const reviewedAt = Math.max(newest + 1, now)
  const completed: Review = { ...init, reviewStatus: 'completed' }
  if (dice.chance(greenRate)) return { review: { ...completed, reviewAnswer: 'GREEN' }, reviewedAt }
  const rejectType = dice.pick(['RETRY', 'FINAL'] as const)
  return { review: { ...completed, reviewAnswer: 'RED', rejectType, rejectLabels: [label] }, reviewedAt }
}
