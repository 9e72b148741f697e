/** `payment-integration identity list`, `shares`, `redemptions`, `verdicts` and `accounts`. @module */
import type { Service } from '@payment-integration/core'
import { type Identity, InvalidShareRequestError } from '@payment-integration/core/identity'
import type {
  AccountEvent,
  RedemptionRecord,
  ShareRecord,
  SubjectView,
  VerdictRecord,
} from '@payment-integration/core/internal'
import { UsageError } from '../errors.js'
import { readInput } from '../input.js'
import type { ExitCode, Io } from '../io.js'
import { grouped, momentText, type ReportedEvent, shortHash, table } from '../output.js'
import { type OperateOptions, withService } from '../with-service.js'

export interface IdentityOptions extends OperateOptions {
  /** An e-mail address in any spelling, or `-` for standard input. Hashed, and never printed or stored. */
  readonly email?: string
  readonly key?: string
  readonly limit?: number
}

export const defaultLimit = 50

/** Limit of standard input: an address has at most 1024 characters. */
const inputLimit = 4_096

export function requireIdentity({ identity }: Pick<Service, 'identity'>): Identity {
  if (identity !== null) return identity
  throw new UsageError(
    'Sharing identity verifications is off: no identity provider is configured. Set the PI_IDENTITY_… variables of the server also for this command.',
  )
}

export async function chooseKey(identity: Identity, options: IdentityOptions, io: Io): Promise<string | undefined> {
  const { email, key } = options
  if (email !== undefined) {
    const text = email === '-' ? (await readInput('-', io, 1)).toString().trim() : email
    if (email === '-' && text.length > inputLimit)
      throw new UsageError('Standard input is longer than one e-mail address.')
    return hashed(identity, text)
  }
  if (key === undefined) return undefined
  if (!/^[0-9a-f]{64}$/i.test(key))
    throw new UsageError('--key expects a keyed hash of 64 hex digits, as identity list prints it.')
  return key.toLowerCase()
}

async function hashed(identity: Identity, email: string): Promise<string> {
  try {
    return await identity.emailKey(email)
  } catch (error) {
    if (!(error instanceof InvalidShareRequestError)) throw error
    throw new UsageError('--email expects an e-mail address; the given text is not one.')
  }
}

/** Describes a list of entries, of one e-mail address or of all. */
interface IdentityList<T, O> {
  read(
    identity: Identity,
    query: { readonly emailKey: string | undefined; readonly limit: number },
    options: O,
  ): Promise<readonly T[]>
  event(item: T): ReportedEvent
  readonly heads: readonly string[]
  cells(item: T): readonly string[]
  /** The noun for an empty list, as in `No subject matches.` */
  readonly none: string
  /** The option that continues the list after its last shown entry. */
  more?(last: T): { readonly afterId: string }
}

/** Makes the action of a list, which prints neither e-mail addresses nor tokens. */
function parseList<T, O extends IdentityOptions = IdentityOptions>(list: IdentityList<T, O>) {
  return (options: O, io: Io): Promise<ExitCode> => {
    const { limit = defaultLimit } = options
    return withService(options, io, async (service, report) => {
      const identity = requireIdentity(service)
      const emailKey = await chooseKey(identity, options, io)
      const found = await list.read(identity, { emailKey, limit: limit + 1 }, options)
      const shown = found.slice(0, limit)
      report.all(shown, list.event, (all) => table([list.heads, ...all.map(list.cells)]), `No ${list.none} matches.`)
      const last = shown.at(-1)
      if (found.length <= limit || last === undefined) return
      const more = list.more?.(last)
      report({ event: 'more', shown: limit, ...more }, () => [
        more === undefined
          ? `The newest ${grouped(limit)}; there are older ones, which a greater --limit prints.`
          : `${grouped(limit)} shown, more follow; continue with --after ${more.afterId}.`,
      ])
    })
  }
}

interface SubjectOptions extends IdentityOptions {
  /** Id of an account: lists its subjects, and the verification of its user without an integration. */
  readonly account?: string
  readonly after?: string
}

export const listSubjects = parseList<SubjectView, SubjectOptions>({
  read: (identity, query, { account, after }) => identity.subjects({ ...query, accountId: account, afterId: after }),
  event: (subject) => ({ event: 'subject', subject }),
  // The keyed hash is last because it is long, and printed whole because `--key` takes it.
  heads: [
    ...['subject', 'account', 'address', 'status', 'verdict', 'reviewed', 'shared by', 'applicant', 'redemptions'],
    ...['open', 'keyed hash of the e-mail'],
  ],
  cells: (subject) => {
    const { id, accountId, review, reviewedAt, applicantId, redemptions, isOpen, emailKey } = subject
    return [
      ...[id, accountId ?? '-', ownershipText(subject), review?.reviewStatus ?? '-', verdictText(review)],
      ...[momentText(reviewedAt), donorText(subject), applicantId ?? '-', grouped(redemptions)],
      ...[isOpen ? 'yes' : '-', emailKey ?? '-'],
    ]
  },
  none: 'subject',
  more: ({ id }) => ({ afterId: id }),
})

/** Lists whose newest entries come first. */
export const histories = [
  [
    'shares',
    'list shares and their outcomes, newest first',
    parseList<ShareRecord>({
      read: (identity, query) => identity.shares(query),
      event: (share) => ({ event: 'share', share }),
      heads: ['at', 'outcome', 'integration', 'subject', 'name of the applicant', 'code'],
      cells: ({ at, outcome, integrationAddress, subjectId, externalUserId, providerCode }) => [
        ...[momentText(at), outcome, shortHash(integrationAddress), subjectId, externalUserId ?? '-'],
        providerCode === null ? '-' : String(providerCode),
      ],
      none: 'share',
    }),
  ],
  [
    'redemptions',
    'list redemptions of share tokens and their states, newest first',
    parseList<RedemptionRecord>({
      read: (identity, query) => identity.redemptions(query),
      event: (redemption) => ({ event: 'redemption', redemption }),
      heads: ['at', 'state', 'lease', 'integration', 'subject', 'name of the applicant', 'applicant'],
      cells: (each) => [
        ...[momentText(each.startedAt), each.state, leaseText(each), shortHash(each.integrationAddress)],
        ...[each.subjectId, each.externalUserId, each.applicantId ?? '-'],
      ],
      none: 'redemption',
    }),
  ],
  [
    'verdicts',
    'list reports of the provider about applicants, newest first, and whether each was applied',
    parseList<VerdictRecord>({
      read: (identity, query) => identity.verdicts(query),
      event: (verdict) => ({ event: 'verdict', verdict }),
      heads: [
        ...['noted', 'source', 'change', 'status', 'verdict', "provider's time", 'outcome', 'subject', 'applicant'],
      ],
      cells: ({ review, ...each }) => [
        ...[momentText(each.notedAt), each.source, each.change, review?.reviewStatus ?? '-', verdictText(review)],
        ...[momentText(each.at), each.outcome, each.subjectId, each.applicantId],
      ],
      none: 'verdict',
    }),
  ],
  [
    'accounts',
    'list registrations, codes, proofs and rejections of accounts, newest first',
    parseList<AccountEvent>({
      read: (identity, query) => identity.accountEvents(query),
      event: (accountEvent) => ({ event: 'account.event', accountEvent }),
      heads: ['at', 'event', 'account', 'proof', 'attested by', 'reason', 'keyed hash of the e-mail'],
      cells: ({ at, action, accountId, proof, by, reason, emailKey }) => [
        ...[momentText(at), action, accountId ?? '-', proof ?? '-', by === null ? '-' : shortHash(by)],
        ...[reason ?? '-', emailKey ?? '-'],
      ],
      none: 'account event',
    }),
  ],
] as const

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

/** The verdict in the provider's words. */
function verdictText(review: SubjectView['review']): string {
  if (review === null || review.reviewAnswer === null) return '-'
  const { reviewAnswer, rejectType, rejectLabels } = review
  return [reviewAnswer, ...(rejectType === null ? [] : [rejectType]), ...rejectLabels].join(' ')
}

/** Text for a lease that keeps an operator from resolving the redemption. */
function leaseText({ state, isLeased }: RedemptionRecord): string {
  return isLeased && (state === 'in_flight' || state === 'unknown') ? 'runs' : '-'
}
