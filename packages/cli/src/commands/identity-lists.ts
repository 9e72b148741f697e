/** `payment-integration identity list`, `shares`, `redemptions`, `verdicts` and `accounts`. @module */
import type { Service } from '@payment-integration/core'
import { type Identity, ShareRequestError } from '@payment-integration/core/identity'
import type {
  AccountEvent,
  RedemptionRecord,
  ShareRecord,
  SubjectView,
  VerdictRecord,
} from '@payment-integration/core/ports'
import { UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { grouped, momentText, type ReportedEvent, shortHash, table } from '../output.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Options of the listing commands of the group. */
export interface IdentityOptions extends OperateOptions {
  /** An address in any spelling, or `-` for standard input. It is hashed and never printed or stored. */
  readonly email?: string | undefined
  /** The keyed hash of an address: 64 hex digits. */
  readonly key?: string | undefined
  /** Limit of printed entries; a last line reports when there are more. @default 50 */
  readonly limit?: number | undefined
}

/** Default of {@link IdentityOptions.limit}. */
export const defaultLimit = 50

/** Limit of standard input, in bytes: an address has up to 1024 characters. */
const inputLimit = 4_096

/**
 * The part of the service that shares identity verifications.
 * @throws UsageError `ERR_USAGE` when no identity provider is configured.
 */
export function identityOf({ identity }: Pick<Service, 'identity'>): Identity {
  if (identity !== null) return identity
  throw new UsageError(
    'Sharing identity verifications is off: no identity provider is configured. Set the PI_IDENTITY_… variables of the server also for this command.',
  )
}

/**
 * The keyed hash of the chosen address; undefined chooses all.
 * @throws UsageError `ERR_USAGE` for an invalid address or keyed hash. No message quotes it.
 */
export async function chooseKey(identity: Identity, options: IdentityOptions, io: Io): Promise<string | undefined> {
  const { email, key } = options
  if (email !== undefined) return hashed(identity, email === '-' ? await readLine(io) : email)
  if (key === undefined) return undefined
  if (!/^[0-9a-f]{64}$/i.test(key))
    throw new UsageError('--key expects a keyed hash of 64 hex digits, as identity list prints it.')
  return key.toLowerCase()
}

async function hashed(identity: Identity, email: string): Promise<string> {
  try {
    return await identity.emailKey(email)
  } catch (error) {
    if (!(error instanceof ShareRequestError)) throw error
    throw new UsageError('--email expects an e-mail address; the given text is not one.')
  }
}

async function readLine(io: Io): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of io.input()) {
    const bytes = Buffer.from(part)
    parts.push(bytes)
    length += bytes.length
    if (length > inputLimit) throw new UsageError('Standard input is longer than one e-mail address.')
  }
  return Buffer.concat(parts).toString('utf8').trim()
}

/** Options of {@link listSubjects}. */
export interface ListSubjectsOptions extends IdentityOptions {
  /** Id of an account: all its subjects, and the verification of its user without an integration. */
  readonly account?: string | undefined
  /** Start after the subject with this id. */
  readonly after?: string | undefined
}

/**
 * Prints subjects with their verifications by id, without e-mail addresses. With `json`, prints one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or a filter is malformed.
 */
export function listSubjects(options: ListSubjectsOptions, io: Io): Promise<ExitCode> {
  const { limit = defaultLimit, account: accountId, after: afterId, json = false } = options
  return withService(options, io, async (service, report) => {
    const identity = identityOf(service)
    const emailKey = await chooseKey(identity, options, io)
    const found = await identity.subjects({ emailKey, accountId, afterId, limit: limit + 1 })
    const shown = found.slice(0, limit)
    if (json) for (const subject of shown) report({ event: 'subject', subject }, () => [])
    else if (shown.length === 0) io.out('No subject matches.')
    else for (const line of subjectsText(shown)) io.out(line)
    const last = shown.at(-1)
    if (found.length > limit && last !== undefined)
      report({ event: 'more', shown: limit, afterId: last.id }, (event) => [
        `${grouped(limit)} shown, more follow; continue with --after ${event.afterId}.`,
      ])
  })
}

/** A list that is read newest first, of one address or of all. */
interface NewestList<T> {
  /** Reads the entries, newest first. */
  read(
    identity: Identity,
    query: { readonly emailKey: string | undefined; readonly limit: number },
  ): Promise<readonly T[]>
  /** The `--json` event of an entry. */
  event(item: T): ReportedEvent
  /** The entries as a table. */
  text(items: readonly T[]): string[]
  /** The line for an empty list. */
  readonly none: string
}

/**
 * Prints a list without e-mail addresses and tokens. With `json`, prints one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or a filter is malformed.
 */
function listNewest<T>(options: IdentityOptions, io: Io, list: NewestList<T>): Promise<ExitCode> {
  const { limit = defaultLimit, json = false } = options
  return withService(options, io, async (service, report) => {
    const identity = identityOf(service)
    const emailKey = await chooseKey(identity, options, io)
    const found = await list.read(identity, { emailKey, limit: limit + 1 })
    const shown = found.slice(0, limit)
    if (json) for (const item of shown) report(list.event(item), () => [])
    else if (shown.length === 0) io.out(list.none)
    else for (const line of list.text(shown)) io.out(line)
    if (found.length > limit)
      report({ event: 'more', shown: limit }, () => [
        `The newest ${grouped(limit)}; there are older ones, which a greater --limit prints.`,
      ])
  })
}

/** Prints shares and their outcomes, newest first. */
export function listShares(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.shares(query),
    event: (share) => ({ event: 'share', share }),
    text: sharesText,
    none: 'No share matches.',
  })
}

/** Prints redemptions of share tokens and their states, newest first. */
export function listRedemptions(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.redemptions(query),
    event: (redemption) => ({ event: 'redemption', redemption }),
    text: redemptionsText,
    none: 'No redemption matches.',
  })
}

/** Prints reports of the provider about applicants, newest first, and whether each was applied. */
export function listVerdicts(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.verdicts(query),
    event: (verdict) => ({ event: 'verdict', verdict }),
    text: verdictsText,
    none: 'No verdict matches.',
  })
}

/** Prints registrations, codes, proofs and refusals of accounts, newest first. */
export function listAccountEvents(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.accountEvents(query),
    event: (accountEvent) => ({ event: 'account.event', accountEvent }),
    text: accountEventsText,
    none: 'No account event matches.',
  })
}

/** The keyed hash is last because it is long, and whole because `--key` takes it. */
const subjectHeads = [
  ...['subject', 'account', 'address', 'status', 'verdict', 'reviewed', 'shared by', 'applicant', 'redemptions'],
  ...['open', 'keyed hash of the e-mail'],
]
const shareHeads = ['at', 'outcome', 'integration', 'subject', 'name of the applicant', 'code']

/** A table of subjects. */
function subjectsText(subjects: readonly SubjectView[]): string[] {
  return table([subjectHeads, ...subjects.map(subjectCells)])
}

/** A table of shares. */
function sharesText(shares: readonly ShareRecord[]): string[] {
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
function verdictText(review: SubjectView['review']): string {
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
function redemptionsText(redemptions: readonly RedemptionRecord[]): string[] {
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
function verdictsText(verdicts: readonly VerdictRecord[]): string[] {
  const cells = ({ review, ...each }: VerdictRecord) => [
    ...[momentText(each.notedAt), each.source, each.change, review?.reviewStatus ?? '-', verdictText(review)],
    ...[momentText(each.at), each.outcome, each.subjectId, each.applicantId],
  ]
  return table([verdictHeads, ...verdicts.map(cells)])
}

/** A table of account events. */
function accountEventsText(events: readonly AccountEvent[]): string[] {
  const cells = ({ at, action, accountId, proof, by, reason, emailKey }: AccountEvent) => [
    ...[momentText(at), action, accountId ?? '-', proof ?? '-', by === null ? '-' : shortHash(by)],
    ...[reason ?? '-', emailKey ?? '-'],
  ]
  return table([eventHeads, ...events.map(cells)])
}
