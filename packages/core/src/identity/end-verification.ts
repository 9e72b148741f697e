/**
 * An operator ends what otherwise a webhook ends, when that was lost: the hold of an applicant, and the wait for one that is missing.
 * Source: DESIGN section 5.4; INTERFACE 3; docs/decisions/identity.md (missing applicants).
 *
 * An operator's word alone lets nobody redeem again: the provider must say, when asked now, that it knows the applicant neither by its id nor by its name,
 * and must know one that was redeemed and heard of by the same time, so that the tenant and the environment are those in which the missing one was.
 * @module
 */
import type { Audited } from '../audit/audited.js'
import type { Answer, IdentityProvider } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { RedemptionAttempt, VerificationView } from '../ports/store-verifications.js'
import type { Clock, Logger } from '../ports/world.js'
import { isAsItWas } from './as-it-was.js'
import { selfDonor } from './decide-claim.js'
import { logRefusal } from './log-refusal.js'
import { markGone } from './missing.js'
import { isEqual } from './order-news.js'
import { refusalError } from './redeem.js'

/** What this needs. */
export interface EndDeps {
  readonly store: Pick<Store, 'transaction' | 'verifications'>
  readonly provider: Pick<IdentityProvider, 'review' | 'find'>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
  readonly audited: Audited
}

/** What an operator ends. */
export interface Ending {
  readonly accountId: string
  /** `hold`: the applicant was switched off, and is on again. `missing`: it was deleted at the provider. */
  readonly what: 'hold' | 'missing'
  /** Only tells what would become of it: the provider is asked, and nothing is changed. @default false */
  readonly dryRun?: boolean | undefined
}

/** What became of it. */
export type Ended =
  /** It is ended; in a dry run it would be. */
  | 'ended'
  /** The applicant is not switched off, not missing, or counts as gone already. */
  | 'nothing_to_end'
  /** The provider knows the applicant that is missing: it is asked about again at once, which ends it once it is found by its id. */
  | 'known'
  /** The provider does not know the applicant that is missing, and its name belongs to another one, which the log names: an operator must look there. */
  | 'name_taken'
  /** The applicant that is on hold is missing, too: the wait for it ends first. */
  | 'missing'
  /** The provider does not know the applicant that is on hold. */
  | 'unknown'
  /** The provider says something else than is known: it is asked about again at once; try again after that. */
  | 'other_review'
  /** The provider knows no applicant of ours that was there with this one, or nobody knows what the missing one came of: tenant or environment may be wrong. */
  | 'unproven'
  /** Something was heard of it meanwhile: try again. */
  | 'changed'

/** An applicant that is missing, with the attempt that it came from; null: none of ours, or nobody knows. */
interface MissingOne {
  readonly applicantId: string
  readonly attempt: RedemptionAttempt | null
}

/** Most other applicants that are asked about until the provider knows one. */
const mostWitnesses = 5
/** Verifications that are read at a time. */
const pageSize = 500

/** Builds the operation. It rejects with IdentityUnavailableError, IdentityMisconfiguredError; StoreError. */
export function createEndVerification(deps: EndDeps): (ending: Ending) => Promise<Ended> {
  const { store, provider, clock, logger, audited } = deps

  return async ({ accountId, what, dryRun = false }) => {
    const [view] = await store.verifications.list({ accountId, limit: 1 })
    const applicantId = view?.applicantId ?? null
    if (view === undefined || applicantId === null || !isOpen(what, view)) return 'nothing_to_end'
    // The address of the attempt that the applicant came from: its account may have shared for another one since.
    const attempt = await store.transaction((tx) => tx.verifications.redemptionOf(applicantId))
    const judged =
      what === 'hold' ? await judgeHold(view, applicantId) : await judgeMissing(view, { applicantId, attempt })
    if (dryRun) return judged
    if (judged === 'ended') return end({ ...view, emailKey: attempt?.emailKey ?? view.emailKey }, applicantId, what)
    if (judged === 'known' || judged === 'other_review')
      await store.transaction((tx) => tx.verifications.change(accountId, { askInMs: 0 }))
    return judged
  }

  /** The hold hides a review: it is told again only as the provider gives it now. */
  async function judgeHold(view: VerificationView, applicantId: string): Promise<Ended> {
    if (view.missing !== null) return 'missing'
    const said = await ask(() => provider.review(applicantId), { applicantId })
    if (said === null) return 'unknown'
    return isEqual(said.review, view.review) ? 'ended' : 'other_review'
  }

  async function judgeMissing(view: VerificationView, { applicantId, attempt }: MissingOne): Promise<Ended> {
    if ((await ask(() => provider.review(applicantId), { applicantId })) !== null) return 'known'
    // Without its attempt nobody can ask for its name; what a user did directly has none of ours.
    if (attempt === null && view.donor !== selfDonor) return 'unproven'
    if (attempt?.isFindable === true) {
      const { externalUserId } = attempt
      const named = await ask(() => provider.find(externalUserId), { externalUserId })
      if (named?.applicantId === applicantId) return 'known'
      if (named !== null) {
        const ids = { externalUserId, applicantId: named.applicantId, missing: applicantId }
        logger.error(ids, 'The name of an applicant that is missing belongs to another one.')
        return 'name_taken'
      }
    }
    const knownAt = Math.max(attempt?.claimedAt ?? 0, view.reviewedAt ?? 0)
    return (await hasWitness(applicantId, knownAt)) ? 'ended' : 'unproven'
  }

  /** Whether the provider knows an applicant that was redeemed, and of which something was heard, by the time that the missing one was known. */
  async function hasWitness(missingId: string, knownAt: number): Promise<boolean> {
    let left = mostWitnesses
    let afterAccountId: string | undefined
    for (;;) {
      const page = await store.verifications.list({ limit: pageSize, afterAccountId })
      const candidates = page.flatMap(({ applicantId, missing, reviewedAt }) => {
        const isOfThatTime = missing === null && reviewedAt !== null && reviewedAt <= knownAt
        return applicantId === null || applicantId === missingId || !isOfThatTime ? [] : [applicantId]
      })
      for (const applicantId of await redeemedBy(knownAt, candidates, left)) {
        if ((await ask(() => provider.review(applicantId), { applicantId })) !== null) return true
        left -= 1
      }
      if (left === 0 || page.length < pageSize) return false
      afterAccountId = page.at(-1)?.accountId
    }
  }

  /** Those that came of an attempt of that time. The provider's time of a review may be one of before it came here: a copy keeps it. */
  async function redeemedBy(knownAt: number, applicantIds: readonly string[], most: number): Promise<string[]> {
    if (applicantIds.length === 0) return []
    return store.transaction(async (tx) => {
      const redeemed: string[] = []
      for (const applicantId of applicantIds) {
        const attempt = await tx.verifications.redemptionOf(applicantId)
        if (attempt !== null && attempt.claimedAt <= knownAt) redeemed.push(applicantId)
        if (redeemed.length === most) break
      }
      return redeemed
    })
  }

  async function ask<T>(question: () => Promise<Answer<T>>, about: Readonly<Record<string, string>>): Promise<T> {
    const answer = await question()
    if (answer.kind === 'answer') return answer.value
    logRefusal(logger, answer, about)
    throw refusalError(answer)
  }

  function end(view: VerificationView, applicantId: string, what: Ending['what']): Promise<Ended> {
    const { accountId, emailKey, donor } = view
    return audited(async (tx, note) => {
      const found = await tx.verifications.lock(accountId)
      if (found.applicantId !== applicantId || !isAsItWas(found, view)) return 'changed'
      const now = clock.now()
      if (what === 'missing')
        await markGone(tx, accountId, { since: found.missing?.since ?? now, told: found.missing?.told ?? false, now })
      else
        await tx.verifications.change(accountId, {
          // In the provider's time nothing was said since: whatever it says of a moment after the hold began counts.
          presence: { isActive: true, at: found.presence?.at ?? 0 },
          askInMs: 0,
        })
      await tx.verifications.noteVerdict({
        ...{ notedAt: now, accountId, applicantId, source: 'operator', at: null, review: null, outcome: 'applied' },
        news: what === 'missing' ? 'missing' : 'activated',
      })
      note({
        ...{ action: what === 'missing' ? 'identity.missing_ended' : 'identity.hold_ended', subject: applicantId },
        details: { integrationAddress: donor, emailKey },
      })
      return 'ended'
    })
  }
}

function isOpen(what: Ending['what'], { presence, missing }: VerificationView): boolean {
  return what === 'hold' ? presence?.isActive === false && missing?.confirmed !== true : missing?.confirmed === false
}
