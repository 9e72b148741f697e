/** How commands print verifications and attempts. @module */
import type { ShareAttempt, VerificationView } from '@payment-integration/core'
import { grouped } from '../../output/figures.js'
import { momentText } from '../../output/moments.js'
import { plain } from '../../output/plain.js'
import { shortHash } from '../../output/short-hash.js'
import { table } from '../../output/table.js'

/** The keyed hash is last and whole: it is long, and `--key` takes it. */
const verificationHeads = [
  ...['account', 'status', 'verdict', 'reviewed', 'shared by', 'applicant', 'attempts', 'under way'],
  'keyed hash of the e-mail',
]
const attemptHeads = [
  ...['at', 'outcome', 'integration', 'account', 'name of the applicant', 'code', 'keyed hash of the e-mail'],
]

/** A table of verifications below their heads. */
export function verificationsText(verifications: readonly VerificationView[]): string[] {
  return table([verificationHeads, ...verifications.map(verificationCells)])
}

/** A table of attempts below their heads. */
export function attemptsText(attempts: readonly ShareAttempt[]): string[] {
  return table([attemptHeads, ...attempts.map(attemptCells)])
}

function verificationCells(view: VerificationView): string[] {
  const { accountId, review, reviewedAt, donor, applicantId, attempts, claimed, emailKey } = view
  return [
    ...[plain(accountId), review?.reviewStatus ?? '-', verdictText(review), momentText(reviewedAt)],
    ...[donor === null ? '-' : shortHash(donor), plain(applicantId ?? '-'), grouped(attempts)],
    ...[claimed ? 'yes' : '-', emailKey === '' ? '-' : emailKey],
  ]
}

/** What the provider said: its words may move no cursor. */
export function verdictText(review: VerificationView['review']): string {
  if (review === null || review.reviewAnswer === null) return '-'
  const { reviewAnswer, rejectType, rejectLabels } = review
  return plain([reviewAnswer, ...(rejectType === null ? [] : [rejectType]), ...rejectLabels].join(' '))
}

function attemptCells(attempt: ShareAttempt): string[] {
  const { at, outcome, integrationAddress, accountId, externalUserId, providerCode, emailKey } = attempt
  return [
    ...[momentText(at), outcome, shortHash(integrationAddress), plain(accountId), plain(externalUserId ?? '-')],
    ...[providerCode === null ? '-' : String(providerCode), emailKey],
  ]
}
