/** How commands print subjects and shares. @module */
import type { ShareRecord, SubjectView } from '@payment-integration/core/ports'
import { grouped } from '../../output/figures.js'
import { momentText } from '../../output/moments.js'
import { plain } from '../../output/plain.js'
import { shortHash } from '../../output/short-hash.js'
import { table } from '../../output/table.js'

/** The keyed hash is last and whole: it is long, and `--key` takes it. */
const subjectHeads = [
  ...['subject', 'account', 'address', 'status', 'verdict', 'reviewed', 'shared by', 'applicant', 'redemptions'],
  ...['open', 'keyed hash of the e-mail'],
]
const shareHeads = ['at', 'outcome', 'integration', 'subject', 'name of the applicant', 'code']

/** A table of subjects below their heads. */
export function subjectsText(subjects: readonly SubjectView[]): string[] {
  return table([subjectHeads, ...subjects.map(subjectCells)])
}

/** A table of shares below their heads. */
export function sharesText(shares: readonly ShareRecord[]): string[] {
  return table([shareHeads, ...shares.map(shareCells)])
}

function subjectCells(subject: SubjectView): string[] {
  const { id, accountId, review, reviewedAt, applicantId, redemptions, isOpen, emailKey } = subject
  return [
    ...[plain(id), plain(accountId ?? '-'), ownershipText(subject), review?.reviewStatus ?? '-', verdictText(review)],
    ...[momentText(reviewedAt), donorText(subject), plain(applicantId ?? '-'), grouped(redemptions)],
    ...[isOpen ? 'yes' : '-', emailKey ?? '-'],
  ]
}

/** Whose the address is: the account proved it, carries it, or gave it up. */
function ownershipText({ emailKey, accountId, proved, closed }: SubjectView): string {
  if (emailKey === null) return '-'
  if (closed) return 'given up'
  if (accountId === null) return 'placeholder'
  return proved ? 'proved' : 'carried'
}

function donorText({ emailKey, donor }: SubjectView): string {
  if (emailKey === null) return 'the user'
  return donor === null ? '-' : shortHash(donor)
}

/** The provider's words may move no cursor. */
export function verdictText(review: SubjectView['review']): string {
  if (review === null || review.reviewAnswer === null) return '-'
  const { reviewAnswer, rejectType, rejectLabels } = review
  return plain([reviewAnswer, ...(rejectType === null ? [] : [rejectType]), ...rejectLabels].join(' '))
}

function shareCells(share: ShareRecord): string[] {
  const { at, outcome, integrationAddress, subjectId, externalUserId, providerCode } = share
  return [
    ...[momentText(at), outcome, shortHash(integrationAddress), plain(subjectId), plain(externalUserId ?? '-')],
    providerCode === null ? '-' : String(providerCode),
  ]
}
