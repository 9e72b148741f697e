/**
 * An operator ends what otherwise a webhook ends, when that was lost: the hold of an applicant, and the wait for one that is missing.
 * Source: DESIGN section 5.4; INTERFACE 3; docs/decisions/identity.md (missing applicants).
 *
 * An operator's word alone lets nobody redeem again: the provider must say, when asked now, that it knows the applicant neither by its id nor by its name,
 * and must know one of the same time, so that the tenant and the environment are those in which the missing one was.
 * @module
 */
import type { Audited } from '../audit/audited.js'
import type { Answer, IdentityProvider } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { VerificationView } from '../ports/store-verifications.js'
import type { Clock, Logger } from '../ports/world.js'
import { isAsItWas } from './as-it-was.js'
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
  /** The provider knows the applicant that is missing: it is asked about again at once, which ends it. */
  | 'known'
  /** The provider does not know the applicant that is on hold. */
  | 'unknown'
  /** The provider says something else than is known: it is asked about again at once; try again after that. */
  | 'other_review'
  /** The provider knows no applicant of ours that was there with this one: tenant or environment may be wrong. */
  | 'unproven'
  /** Something was heard of it meanwhile: try again. */
  | 'changed'

/** Most other applicants that are asked about until the provider knows one. */
const mostWitnesses = 5
/** Verifications that are read at a time. */
const pageSize = 500
/** Most attempts of an address among which the one of an applicant is looked for. */
const mostAttempts = 1_000

/** Builds the operation. It rejects with IdentityUnavailableError, IdentityMisconfiguredError; StoreError. */
export function createEndVerification(deps: EndDeps): (ending: Ending) => Promise<Ended> {
  const { store, provider, clock, logger, audited } = deps

  return async ({ accountId, what, dryRun = false }) => {
    const [view] = await store.verifications.list({ accountId, limit: 1 })
    const applicantId = view?.applicantId ?? null
    if (view === undefined || applicantId === null || !isOpen(what, view)) return 'nothing_to_end'
    const judged = what === 'hold' ? await judgeHold(view, applicantId) : await judgeMissing(view, applicantId)
    if (dryRun) return judged
    if (judged === 'ended') return end(view, applicantId, what)
    if (judged === 'known' || judged === 'other_review')
      await store.transaction((tx) => tx.verifications.change(accountId, { askInMs: 0 }))
    return judged
  }

  /** The hold hides a review: it is told again only as the provider gives it now. */
  async function judgeHold(view: VerificationView, applicantId: string): Promise<Ended> {
    const said = await ask(() => provider.review(applicantId), { applicantId })
    if (said === null) return 'unknown'
    return isEqual(said.review, view.review) ? 'ended' : 'other_review'
  }

  async function judgeMissing(view: VerificationView, applicantId: string): Promise<Ended> {
    if ((await ask(() => provider.review(applicantId), { applicantId })) !== null) return 'known'
    const attempts = await store.verifications.redemptions({ emailKey: view.emailKey, limit: mostAttempts })
    const attempt = attempts.find((each) => each.applicantId === applicantId)
    const { externalUserId, isFindable = false, claimedAt = 0 } = attempt ?? {}
    if (externalUserId !== undefined && isFindable)
      if ((await ask(() => provider.find(externalUserId), { externalUserId })) !== null) return 'known'
    const knownAt = Math.max(claimedAt, view.reviewedAt ?? 0)
    return (await hasWitness(applicantId, knownAt)) ? 'ended' : 'unproven'
  }

  /** Whether the provider knows an applicant of which something was heard by the time that the missing one was known. */
  async function hasWitness(missingId: string, knownAt: number): Promise<boolean> {
    let asked = 0
    let afterAccountId: string | undefined
    for (;;) {
      const page = await store.verifications.list({ limit: pageSize, afterAccountId })
      for (const { applicantId, missing, reviewedAt } of page) {
        const isOfThatTime = missing === null && reviewedAt !== null && reviewedAt <= knownAt
        if (applicantId === null || applicantId === missingId || !isOfThatTime) continue
        if ((await ask(() => provider.review(applicantId), { applicantId })) !== null) return true
        asked += 1
        if (asked === mostWitnesses) return false
      }
      if (page.length < pageSize) return false
      afterAccountId = page.at(-1)?.accountId
    }
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
  return what === 'hold' ? presence?.isActive === false && missing === null : missing?.confirmed === false
}
