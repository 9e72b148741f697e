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
import { defaultLimit, type Options } from '../command.js'
import { UsageError } from '../errors.js'
import { readInput } from '../input.js'
import type { Io } from '../io.js'
import { type Columns, groupDigits, momentText, type ReportedEvent, shortHash, toTable } from '../output.js'
import { type OperateOptions, type Operation, operate } from '../with-service.js'

/** `email`: an address in any spelling, or `-` for standard input. It is hashed, and never printed or stored. */
export type IdentityOptions = OperateOptions & Options<'email' | 'key', string> & Options<'limit', number>

export function requireIdentity({ identity }: Pick<Service, 'identity'>): Identity {
  if (identity !== null) return identity
  throw new UsageError(
    'Sharing identity verifications is off: no identity provider is configured. Set the PI_IDENTITY_… variables of the server for this command too.',
  )
}

export async function readEmailKey(identity: Identity, options: IdentityOptions, io: Io): Promise<string | undefined> {
  const { email, key } = options
  if (email !== undefined) {
    const text = email === '-' ? (await readInput('-', io, 1)).toString().trim() : email
    try {
      return await identity.emailKey(text)
    } catch (error) {
      if (!(error instanceof InvalidShareRequestError)) throw error
      throw new UsageError('--email expects an e-mail address; the given text is not one.')
    }
  }
  if (key === undefined) return undefined
  if (!/^[0-9a-f]{64}$/i.test(key))
    throw new UsageError('--key expects a keyed hash of 64 hex digits, as identity list prints it.')
  return key.toLowerCase()
}

/** Describes a list of entries, for one e-mail address or for all addresses. */
interface IdentityList<T, O> {
  read(
    identity: Identity,
    query: { readonly emailKey: string | undefined; readonly limit: number },
    options: O,
  ): Promise<readonly T[]>
  event(item: T): ReportedEvent
  readonly columns: Columns<T>
  /** The noun for an empty list, as in `No subject matches.` */
  readonly noun: string
  /** The option that continues the list after its last shown entry. */
  more?(last: T): { readonly afterId: string }
}

/** Makes the action of a list, which prints neither e-mail addresses nor tokens. */
function createListAction<T, O extends IdentityOptions = IdentityOptions>(list: IdentityList<T, O>) {
  return operate(async (service, { report, options, io }: Operation<O>) => {
    const { limit = defaultLimit } = options
    const identity = requireIdentity(service)
    const emailKey = await readEmailKey(identity, options, io)
    const rows = await list.read(identity, { emailKey, limit: limit + 1 }, options)
    const pageRows = rows.slice(0, limit)
    report.all(pageRows, list.event, (all) => toTable(all, list.columns), `No ${list.noun} matches.`)
    const last = pageRows.at(-1)
    if (rows.length <= limit || last === undefined) return
    const more = list.more?.(last)
    report({ event: 'more', shown: limit, ...more }, () => [
      more === undefined
        ? `The newest ${groupDigits(limit)}; a larger --limit prints older ones.`
        : `${groupDigits(limit)} shown, more follow; continue with --after ${more.afterId}.`,
    ])
  })
}

/** `account`: lists the subjects of that account, including a verification its user made without an integration. */
type SubjectOptions = IdentityOptions & Options<'account' | 'after', string>

export const listSubjects = createListAction<SubjectView, SubjectOptions>({
  read: (identity, query, { account, after }) => identity.subjects({ ...query, accountId: account, afterId: after }),
  event: (subject) => ({ event: 'subject', subject }),
  columns: {
    subject: ({ id }) => id,
    account: ({ accountId }) => accountId,
    address: ownershipText,
    status: ({ review }) => review?.reviewStatus,
    verdict: ({ review }) => verdictText(review),
    reviewed: ({ reviewedAt }) => momentText(reviewedAt),
    'shared by': ({ emailKey, donor }) => (emailKey === null ? 'the user' : donor && shortHash(donor)),
    applicant: ({ applicantId }) => applicantId,
    redemptions: ({ redemptions }) => redemptions,
    open: ({ isOpen }) => (isOpen ? 'yes' : null),
    // Last because it is long, and printed whole because `--key` takes it.
    'keyed hash of the e-mail': ({ emailKey }) => emailKey,
  },
  noun: 'subject',
  more: ({ id }) => ({ afterId: id }),
})

/** Lists whose newest entries come first. */
export const histories = [
  [
    'shares',
    'list shares and their outcomes, newest first',
    createListAction<ShareRecord>({
      read: (identity, query) => identity.shares(query),
      event: (share) => ({ event: 'share', share }),
      columns: {
        at: ({ at }) => momentText(at),
        outcome: ({ outcome }) => outcome,
        integration: ({ integrationAddress }) => shortHash(integrationAddress),
        subject: ({ subjectId }) => subjectId,
        'external user id': ({ externalUserId }) => externalUserId,
        code: ({ providerCode }) => providerCode?.toString(),
      },
      noun: 'share',
    }),
  ],
  [
    'redemptions',
    'list redemptions of share tokens and their states, newest first',
    createListAction<RedemptionRecord>({
      read: (identity, query) => identity.redemptions(query),
      event: (redemption) => ({ event: 'redemption', redemption }),
      columns: {
        at: ({ startedAt }) => momentText(startedAt),
        state: ({ state }) => state,
        lease: leaseText,
        integration: ({ integrationAddress }) => shortHash(integrationAddress),
        subject: ({ subjectId }) => subjectId,
        'external user id': ({ externalUserId }) => externalUserId,
        applicant: ({ applicantId }) => applicantId,
      },
      noun: 'redemption',
    }),
  ],
  [
    'verdicts',
    'list reports of the provider about applicants, newest first, and whether each was applied',
    createListAction<VerdictRecord>({
      read: (identity, query) => identity.verdicts(query),
      event: (verdict) => ({ event: 'verdict', verdict }),
      columns: {
        noted: ({ notedAt }) => momentText(notedAt),
        source: ({ source }) => source,
        change: ({ change }) => change,
        status: ({ review }) => review?.reviewStatus,
        verdict: ({ review }) => verdictText(review),
        "provider's time": ({ at }) => momentText(at),
        outcome: ({ outcome }) => outcome,
        subject: ({ subjectId }) => subjectId,
        applicant: ({ applicantId }) => applicantId,
      },
      noun: 'verdict',
    }),
  ],
  [
    'accounts',
    'list registrations, codes, proofs and rejections of accounts, newest first',
    createListAction<AccountEvent>({
      read: (identity, query) => identity.accountEvents(query),
      event: (accountEvent) => ({ event: 'account.event', accountEvent }),
      columns: {
        at: ({ at }) => momentText(at),
        event: ({ action }) => action,
        account: ({ accountId }) => accountId,
        proof: ({ proof }) => proof,
        'attested by': ({ by }) => by && shortHash(by),
        reason: ({ reason }) => reason,
        'keyed hash of the e-mail': ({ emailKey }) => emailKey,
      },
      noun: 'account event',
    }),
  ],
] as const

/** The relation of the account to the address; a placeholder has no account. */
function ownershipText({ emailKey, accountId, proved, closed }: SubjectView): string | null {
  if (emailKey === null) return null
  if (closed) return 'given up'
  if (accountId === null) return 'placeholder'
  return proved ? 'proved' : 'carried'
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
