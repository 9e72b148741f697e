/** Formats subjects, shares, redemptions, verdicts and account events as tables. @module */
import type {
  AccountEvent,
  RedemptionRecord,
  ShareRecord,
  SubjectView,
  VerdictRecord,
} from '@payment-integration/core/ports'
import { grouped, momentText, shortHash, table } from '../../format.js'

/** The keyed hash is last because it is long, and whole because `--key` takes it. */
const subjectHeads = [
  ...['subject', 'account', 'address', 'status', 'verdict', 'reviewed', 'shared by', 'applicant', 'redemptions'],
  ...['open', 'keyed hash of the e-mail'],
]
const shareHeads = ['at', 'outcome', 'integration', 'subject', 'name of the applicant', 'code']

/** A table of subjects. */
export function subjectsText(subjects: readonly SubjectView[]): string[] {
  return table([subjectHeads, ...subjects.map(subjectCells)])
}

/** A table of shares. */
export function sharesText(shares: readonly ShareRecord[]): string[] {
  return table([shareHeads, ...shares.map(shareCells)])
}

function subjectCells(subject: SubjectView): string[] {
  const { id, accountId, review, reviewedAt, applicantId, redemptions, isOpen, emailKey } = subject
  return [
    ...[id, accountId ?? '-', ownershipText(subject), review?.reviewStatus ?? '-', verdictText(review)],
    ...[momentText(reviewedAt), donorText(subject), applicantId ?? '-', grouped(redemptions)],
    ...[isOpen ? 'yes' : '-', emailKey ?? '-'],
  ]
}

/** The relation of the account to the address: proved, carried or given up. */
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

/** The verdict in the provider's words, without control characters. */
export function verdictText(review: SubjectView['review']): string {
  if (review === null || review.reviewAnswer === null) return '-'
  const { reviewAnswer, rejectType, rejectLabels } = review
  return [reviewAnswer, ...(rejectType === null ? [] : [rejectType]), ...rejectLabels].join(' ')
}

function shareCells(share: ShareRecord): string[] {
  const { at, outcome, integrationAddress, subjectId, externalUserId, providerCode } = share
  return [
    ...[momentText(at), outcome, shortHash(integrationAddress), subjectId, externalUserId ?? '-'],
    providerCode === null ? '-' : String(providerCode),
  ]
}

const redemptionHeads = ['at', 'state', 'lease', 'integration', 'subject', 'name of the applicant', 'applicant']
const verdictHeads = [
  ...['noted', 'source', 'change', 'status', 'verdict', "provider's time", 'outcome', 'subject', 'applicant'],
]
const eventHeads = ['at', 'event', 'account', 'proof', 'attested by', 'reason', 'keyed hash of the e-mail']

/** A table of redemptions. */
export function redemptionsText(redemptions: readonly RedemptionRecord[]): string[] {
  const cells = (each: RedemptionRecord) => [
    ...[momentText(each.startedAt), each.state, leaseText(each), shortHash(each.integrationAddress)],
    ...[each.subjectId, each.externalUserId, each.applicantId ?? '-'],
  ]
  return table([redemptionHeads, ...redemptions.map(cells)])
}

/** Whether a running lease keeps an operator from resolving the redemption. */
function leaseText({ state, isLeased }: RedemptionRecord): string {
  return isLeased && (state === 'in_flight' || state === 'unknown') ? 'runs' : '-'
}

/** A table of verdicts. */
export function verdictsText(verdicts: readonly VerdictRecord[]): string[] {
  const cells = ({ review, ...each }: VerdictRecord) => [
    ...[momentText(each.notedAt), each.source, each.change, review?.reviewStatus ?? '-', verdictText(review)],
    ...[momentText(each.at), each.outcome, each.subjectId, each.applicantId],
  ]
  return table([verdictHeads, ...verdicts.map(cells)])
}

/** A table of account events. */
export function accountEventsText(events: readonly AccountEvent[]): string[] {
  const cells = ({ at, action, accountId, proof, by, reason, emailKey }: AccountEvent) => [
    ...[momentText(at), action, accountId ?? '-', proof ?? '-', by === null ? '-' : shortHash(by)],
    ...[reason ?? '-', emailKey ?? '-'],
  ]
  return table([eventHeads, ...events.map(cells)])
}
