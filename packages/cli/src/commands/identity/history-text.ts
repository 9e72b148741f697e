/** How commands print redemptions, verdicts, and events of accounts. @module */
import type { AccountEvent, RedemptionRecord, VerdictRecord } from '@payment-integration/core/ports'
import { momentText } from '../../output/moments.js'
import { plain } from '../../output/plain.js'
import { shortHash } from '../../output/short-hash.js'
import { table } from '../../output/table.js'
import { verdictText } from './text.js'

const redemptionHeads = ['at', 'state', 'lease', 'integration', 'subject', 'name of the applicant', 'applicant']
const verdictHeads = [
  ...['noted', 'source', 'change', 'status', 'verdict', "provider's time", 'outcome', 'subject', 'applicant'],
]
const eventHeads = ['at', 'event', 'account', 'proof', 'attested by', 'reason', 'keyed hash of the e-mail']

/** A table of redemptions. */
export function redemptionsText(redemptions: readonly RedemptionRecord[]): string[] {
  const cells = (each: RedemptionRecord) => [
    ...[momentText(each.startedAt), each.state, leaseText(each), shortHash(each.integrationAddress)],
    ...[plain(each.subjectId), plain(each.externalUserId), plain(each.applicantId ?? '-')],
  ]
  return table([redemptionHeads, ...redemptions.map(cells)])
}

/** Whether an operator must wait for the end of the lease. */
function leaseText({ state, isLeased }: RedemptionRecord): string {
  return isLeased && (state === 'in_flight' || state === 'unknown') ? 'runs' : '-'
}

/** A table of verdicts. */
export function verdictsText(verdicts: readonly VerdictRecord[]): string[] {
  const cells = ({ review, ...each }: VerdictRecord) => [
    ...[momentText(each.notedAt), each.source, each.change, review?.reviewStatus ?? '-', verdictText(review)],
    ...[momentText(each.at), each.outcome, plain(each.subjectId), plain(each.applicantId)],
  ]
  return table([verdictHeads, ...verdicts.map(cells)])
}

/** A table of events of accounts. */
export function accountEventsText(events: readonly AccountEvent[]): string[] {
  const cells = ({ at, action, accountId, proof, by, reason, emailKey }: AccountEvent) => [
    ...[momentText(at), action, plain(accountId ?? '-'), proof ?? '-', by === null ? '-' : shortHash(by)],
    ...[reason ?? '-', emailKey ?? '-'],
  ]
  return table([eventHeads, ...events.map(cells)])
}
