/** Verifications of accounts inside a transaction, and the claims on them. Source: INTERFACE 3, 4.2. @module */
import type {
  ShareAttempt,
  VerdictEntry,
  Verification,
  VerificationChange,
  VerificationTransaction,
} from '@payment-integration/core/ports'
import type { Connection, Differences, Parameter } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { run } from '../internal/statement.js'
import { pack } from '../internal/values.js'
import { findRedemption, redemptionsIn } from './redemptions.js'
import { type StoredVerification, verificationColumns, verificationOf } from './verification-row.js'

/** Binds the operations to a transaction's connection. */
export function verificationsIn(db: Connection, differences: Differences): VerificationTransaction {
  return {
    lock: (accountId) => lock(db, differences, accountId),
    async lockByApplicant({ applicantId, externalUserId }) {
      const named = externalUserId === null ? null : await findRedemption(db, externalUserId)
      const known = await lockByApplicantId(db, differences, applicantId)
      const verification = known ?? (named && (await lockNamed(db, differences, named.accountId, applicantId)))
      if (verification === null) return null
      // While it waited for the account, the attempt may have ended.
      const isOfAttempt = named?.accountId === verification.accountId
      return { verification, attempt: isOfAttempt ? await findRedemption(db, named.externalUserId) : null }
    },
    ofApplicant: (applicantId) => findByApplicant(db, differences, applicantId),
    change: (accountId, change) => changeVerification(db, differences, accountId, change),
    ...redemptionsIn(db, differences),
    logAttempt: (attempt) => logAttempt(db, attempt),
    noteVerdict: (entry) => noteVerdict(db, entry),
    async noteEvent(eventKey, at) {
      const noted = await db
        .insertInto('provider_events')
        .values({ event_key: pack(eventKey), at: checkInteger(at, 'at') })
        .onConflict((conflict) => conflict.doNothing())
        .returning('event_key')
        .executeTakeFirst()
      return noted !== undefined
    },
  }
}

const lapsed = (now: string) => `${verificationColumns}, case when claim_until <= ${now} then 1 else 0 end as lapsed`

async function lock(db: Connection, differences: Differences, accountId: string): Promise<Verification> {
  const [row] = await run<StoredVerification>(db, differences, (parameter) => {
    // An update that changes nothing takes the row and answers what is in it after the wait, in the statement that may insert it.
    return `insert into ${differences.name('verifications')} as v (account_id, attempts)
      values (${parameter(pack(accountId))}, 0) on conflict (account_id) do update set attempts = v.attempts
      returning ${lapsed(differences.nowText(parameter))}`
  })
  if (row === undefined) throw new TypeError('The statement that locks a verification answered no row.')
  return verificationOf(row)
}

async function lockByApplicantId(
  db: Connection,
  differences: Differences,
  applicantId: string,
): Promise<Verification | null> {
  for (;;) {
    const held = await findByApplicant(db, differences, applicantId, differences.lockRows('v'))
    if (held !== null) return held
    // A statement that waited for an account whose applicant went to another one meanwhile finds neither: it sees the other one as it was before the wait.
    if ((await findByApplicant(db, differences, applicantId)) === null) return null
  }
}

/** The verification that has an applicant. @param locking - What locks it; without that nobody is waited for. */
async function findByApplicant(
  db: Connection,
  differences: Differences,
  applicantId: string,
  locking = '',
): Promise<Verification | null> {
  const { name, nowText } = differences
  const [row] = await run<StoredVerification>(
    db,
    differences,
    (parameter) => `select ${lapsed(nowText(parameter))} from ${name('verifications')} v
      where applicant_id = ${parameter(pack(applicantId))} order by account_id limit 1${locking}`,
  )
  return row === undefined ? null : verificationOf(row)
}

/** Locks the account of an attempt; or the one that its applicant went along to, if both happened while it waited. */
async function lockNamed(
  db: Connection,
  differences: Differences,
  accountId: string,
  applicantId: string,
): Promise<Verification> {
  const verification = await lock(db, differences, accountId)
  if (verification.applicantId === applicantId) return verification
  return (await lockByApplicantId(db, differences, applicantId)) ?? verification
}

async function changeVerification(
  db: Connection,
  differences: Differences,
  accountId: string,
  change: VerificationChange,
): Promise<void> {
  const { name, nowText } = differences
  await run(db, differences, (parameter) => {
    const after = (ms: number, what: string) => `${nowText(parameter)} + ${parameter(checkInteger(ms, what))}`
    const written = assignments(change, parameter, after)
    if (change.askInMs !== undefined) written.push(nextQuestion(change, () => nowText(parameter), after))
    // The account is no change: a statement with nothing else to set is still one.
    const id = parameter(pack(accountId))
    return `update ${name('verifications')} set ${['account_id = account_id', ...written].join(', ')} where account_id = ${id}`
  })
}

function assignments(
  change: VerificationChange,
  parameter: Parameter,
  after: (ms: number, what: string) => string,
): string[] {
  const { donor, applicantId, attempt, review, reviewedAt, doubt, presence, missing, attempts, claim } = change
  const set = (column: string, value: unknown) => `${column} = ${parameter(value)}`
  const written: string[] = []
  if (donor !== undefined) written.push(set('donor', donor))
  if (applicantId !== undefined) written.push(set('applicant_id', pack(applicantId)))
  if (review !== undefined) written.push(set('review', pack(review)))
  if (attempt !== undefined) written.push(set('attempt', attempt === null ? null : checkInteger(attempt, 'attempt')))
  if (doubt !== undefined) written.push(set('doubt', pack(doubt)))
  if (presence !== undefined)
    written.push(set('presence_at', presence?.at ?? null), set('is_active', flag(presence?.isActive)))
  if (missing !== undefined)
    written.push(
      set('missing_since', missing?.since ?? null),
      set('missing_told', flag(missing?.told)),
      set('missing_confirmed', flag(missing?.confirmed)),
    )
  if (reviewedAt !== undefined) written.push(set('reviewed_at', reviewedAt))
  if (attempts !== undefined) written.push(set('attempts', checkInteger(attempts, 'attempts')))
  if (claim === null) written.push('claim_token = null', 'claim_by = null', 'claim_name = null', 'claim_until = null')
  else if (claim !== undefined)
    written.push(
      set('claim_token', pack(claim.token)),
      set('claim_by', claim.by),
      set('claim_name', pack(claim.externalUserId)),
      `claim_until = ${after(claim.leaseMs, 'leaseMs')}`,
    )
  return written
}

/** Sets when the provider is asked, unless the time of before is to be kept. @param now - The time as an expression, which may take a parameter: none may go unused. */
function nextQuestion(
  { askInMs = null, askUnless }: VerificationChange,
  now: () => string,
  after: (ms: number, what: string) => string,
): string {
  const next = askInMs === null ? 'null' : after(askInMs, 'askInMs')
  if (askUnless === undefined) return `ask_at = ${next}`
  if (askUnless === 'due') return `ask_at = case when ask_at <= ${now()} then ask_at else ${next} end`
  if (askInMs === null) return 'ask_at = ask_at'
  return `ask_at = case when ask_at < ${next} then ask_at else ${next} end`
}

function flag(value: boolean | undefined): 0 | 1 | null {
  return value === undefined ? null : value ? 1 : 0
}

async function noteVerdict(db: Connection, entry: VerdictEntry): Promise<void> {
  const { notedAt, accountId, applicantId, source, news, at, review, outcome } = entry
  await db
    .insertInto('verdicts')
    .values({
      noted_at: checkInteger(notedAt, 'notedAt'),
      account_id: pack(accountId),
      applicant_id: pack(applicantId),
      ...{ source, news, at, outcome },
      review: pack(review),
    })
    .execute()
}

async function logAttempt(db: Connection, attempt: ShareAttempt): Promise<void> {
  await db
    .insertInto('share_attempts')
    .values({
      at: attempt.at,
      integration: attempt.integrationAddress,
      email_key: attempt.emailKey,
      account_id: pack(attempt.accountId),
      outcome: attempt.outcome,
      external_user_id: pack(attempt.externalUserId),
      provider_code: attempt.providerCode,
    })
    .execute()
}
