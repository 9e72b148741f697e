/** How commands print redemptions, verdicts, and what happened to accounts. @module */
import type { AccountEvent, RedemptionAttempt, VerdictEntry } from '@payment-integration/core/ports'
import { momentText } from '../../output/moments.js'
import { plain } from '../../output/plain.js'
import { shortHash } from '../../output/short-hash.js'
import { table } from '../../output/table.js'
import { verdictText } from './text.js'

const key = 'keyed hash of the e-mail'
const redemptionHeads = ['at', 'state', 'integration', 'account', 'name of the applicant', 'applicant', key]
const verdictHeads = ['noted', 'by', 'news', 'status', 'verdict', 'said', 'counted', 'account', 'applicant']
const eventHeads = ['at', 'what', 'account', 'proof', 'attested by', 'why not', key]

/** A table of attempts that may have sent a token. */
export function redemptionsText(redemptions: readonly RedemptionAttempt[]): string[] {
  const cells = (each: RedemptionAttempt) => [
    ...[momentText(each.claimedAt), each.state, shortHash(each.integrationAddress), plain(each.accountId)],
    ...[plain(each.externalUserId), plain(each.applicantId ?? '-'), each.emailKey],
  ]
  return table([redemptionHeads, ...redemptions.map(cells)])
}

/** A table of what the provider said. */
export function verdictsText(verdicts: readonly VerdictEntry[]): string[] {
  const cells = ({ review, ...each }: VerdictEntry) => [
    ...[momentText(each.notedAt), each.source, each.news, review?.reviewStatus ?? '-', verdictText(review)],
    ...[momentText(each.at), each.outcome, plain(each.accountId), plain(each.applicantId)],
  ]
  return table([verdictHeads, ...verdicts.map(cells)])
}

/** A table of what happened to accounts. */
export function accountEventsText(events: readonly AccountEvent[]): string[] {
  const cells = ({ at, action, accountId, proof, by, reason, emailKey }: AccountEvent) => [
    ...[momentText(at), action, plain(accountId ?? '-'), proof ?? '-', by === null ? '-' : shortHash(by)],
    ...[reason ?? '-', emailKey ?? '-'],
  ]
  return table([eventHeads, ...events.map(cells)])
}
