/** One process of the reference: transactions and provider calls with pauses between. @module */
import type { Applicant } from '../../../src/ports/identity-provider.js'
import type { Service, ShareCall, ShareOutcome, Surroundings } from '../system-under-test.js'
import { answer, begin, decide, init } from './decide.js'
import { attest, prove, recordDirect, register } from './owners.js'
import { apply, attach, end, operatorResolves, schedule, webhook } from './settle.js'
import { isUnsettled, type RedemptionRow, type Store, type Subject, subjectById } from './store.js'

const sendMs = 30_000
const lostAgainMs = 5_000
const dated = ({ review, reviewedAt }: Applicant) =>
  review === null ? null : { review, reviewedAt: reviewedAt ?? null }

export function referenceProcess(store: Store, { clock, provider, ids, pause }: Surroundings): Service {
  const { mutant } = store
  const findsByName = provider.findsByName !== false
  async function transaction<T>(point: string, run: (now: number) => T): Promise<T> {
    await pause(`before ${point}`)
    const result = run(clock.now())
    await pause(`after ${point}`)
    return result
  }
  async function called<T>(point: string, call: () => Promise<T>): Promise<T> {
    await pause(`before ${point}`)
    const result = await call()
    await pause(`after ${point}`)
    return result
  }

  /** Asks the provider what became of a redemption. */
  async function lookUp(name: string): Promise<Applicant | 'absent' | 'unknown' | 'misconfigured'> {
    const lost = findsByName ? 'unknown' : 'unresolved'
    const found = await called(`find ${name}`, () => provider.find(name))
    if (found.kind !== 'answer') return found.kind === 'misconfigured' ? found.kind : 'unknown'
    return transaction(`look-up of ${name}`, (now) => {
      const row = store.redemptions.find(({ externalUserId }) => externalUserId === name)
      if (found.value !== null) {
        attach(store, name, found.value.applicantId, dated(found.value), now)
        return found.value
      }
      const isEarly = row !== undefined && now < row.leaseUntil
      const isSoon = mutant === 'nobody found means absent at once' || mutant === 'a lease ends at once'
      const isAbsent = findsByName && (!isEarly || isSoon)
      end(store, name, isAbsent ? 'absent' : lost, now + lostAgainMs)
      return isAbsent ? 'absent' : 'unknown'
    })
  }

  async function redeem(
    { token, integration }: ShareCall,
    subject: Subject,
    former: ShareOutcome | null,
    name: string,
    now: number,
  ) {
    const sendBy = mutant === 'a request is sent however late' ? Number.MAX_SAFE_INTEGER : now + sendMs
    const request = { shareToken: token, externalUserId: name, sendBy, integrationAddress: integration }
    const sent = await called(`redeem ${name}`, () => provider.redeem(request))
    const own = (review: Applicant['review']): ShareOutcome => answer(review ?? init, true)
    if (sent.kind === 'redeemed') {
      const { applicant } = sent
      await transaction(`attach ${name}`, (then) => attach(store, name, applicant.applicantId, dated(applicant), then))
      return own(applicant.review)
    }
    if (sent.kind === 'unknown' || (sent.kind === 'throttled' && mutant === 'a throttled request is taken for lost')) {
      const state = findsByName ? 'unknown' : 'unresolved'
      await transaction(`${name} is unknown`, (then) => end(store, name, state, then + lostAgainMs))
      const found = mutant === 'a lost answer is not looked up at once' ? 'unknown' : await lookUp(name)
      const isFound = typeof found === 'object' && mutant !== 'a redemption that is found is not reused'
      return isFound ? own(found.review) : ({ kind: 'unavailable' } as const)
    }
    await transaction(`${name} is absent`, () => {
      end(store, name, 'absent')
      if (mutant === 'a refused token clears the verdict') subject.review = null
    })
    const isOurs = mutant !== 'our own fault is answered as unavailable'
    if (sent.kind === 'misconfigured' && isOurs) return { kind: 'misconfigured' } as const
    if (sent.kind !== 'rejected') return { kind: 'unavailable' } as const
    const review = former?.kind === 'answered' ? former : null
    if (review === null) return { kind: 'rejected', message: sent.message, former: null } as const
    const { kind, reused, ...verdict } = review
    return { kind: 'rejected', message: sent.message, former: verdict } as const
  }

  async function share(request: ShareCall): Promise<ShareOutcome> {
    for (;;) {
      const name = ids.next()
      const beginAt = (subject: Subject, now: number) => begin(store, subject, request.integration, now, name)
      const isSplit = mutant === 'a redemption begins in a second transaction'
      const { step, now } = await transaction('decision', (at) => {
        const decided = decide(store, request, at, ids.next)
        if (decided.kind === 'redeem' && !isSplit) beginAt(decided.subject, at)
        return { step: decided, now: at }
      })
      if (step.kind === 'answer') return step.outcome
      if (step.kind === 'redeem') {
        if (isSplit) await transaction('begin', () => beginAt(step.subject, now))
        return redeem(request, step.subject, step.former && answer(step.former, false), name, now)
      }
      for (const one of step.names) {
        const found = await lookUp(one)
        if (found === 'unknown' || found === 'misconfigured') return { kind: 'unavailable' }
      }
    }
  }

  async function pollReview(subject: Subject): Promise<void> {
    const { applicantId } = subject
    if (applicantId === null) return
    const told = await called(`review of ${applicantId}`, () => provider.review(applicantId))
    await transaction(`review of ${applicantId}`, (now) => {
      const still = subjectById(store, subject.id)
      if (still?.applicantId !== applicantId || told.kind !== 'answer') return
      if (told.value === null) still.gone = true
      else apply(store, still, told.value, now)
      schedule(still, now)
    })
  }

  async function poll() {
    if (mutant === 'a poll asks nothing') return { kind: 'done' } as const
    const due = await transaction('poll', (now) => ({
      redemptions: store.redemptions.filter((row) => isUnsettled(row) && row.nextPollAt <= now),
      subjects: store.subjects.filter(({ applicantId, nextPollAt }) => applicantId !== null && nextPollAt <= now),
    }))
    for (const { externalUserId } of due.redemptions as RedemptionRow[]) await lookUp(externalUserId)
    for (const subject of due.subjects) await pollReview(subject)
    return { kind: 'done' } as const
  }

  return {
    ...{ share, poll },
    register: (address) => transaction('register', () => register(store, address, ids.next)),
    prove: (address, accountId) => transaction('prove', () => prove(store, address, accountId, ids.next)),
    attest: (address, integration, accountId) =>
      transaction('attest', () => attest(store, address, integration, accountId, ids.next)),
    recordDirect: (direct) => transaction('record direct', (now) => recordDirect(store, direct, now)),
    async webhook(event) {
      await transaction('webhook', (now) => webhook(store, event, now))
      return { kind: 'accepted' }
    },
    operatorResolves: (name, applicantId) =>
      transaction('operator', (now) => operatorResolves(store, name, applicantId, now)),
    kill: async () => {},
  }
}
