/** What operators and the questions read of verifications. @module */
import type {
  IdentityQuery,
  Review,
  ShareAttempt,
  ShareOutcome,
  VerdictEntry,
  VerificationQuery,
  VerificationStore,
  VerificationView,
} from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { compile } from '../internal/statement.js'
import { integer, nullableInteger, pack, unpack } from '../internal/values.js'
import type { ShareAttemptRow, VerdictRow } from '../schema/identity-tables.js'
import type { Integer } from '../schema/integer.js'
import { redemptionFrom } from './redemptions.js'
import { type StoredVerification, verificationColumns, verificationOf } from './verification-row.js'

/** Reads outside of transactions. */
export function createVerificationStore(engine: Engine): VerificationStore {
  const { read, transaction } = engine
  return {
    async list(query) {
      checkInteger(query.limit, 'limit', 1)
      const { rows } = await read.executeQuery<ViewRow>(listQuery(engine, query))
      return rows.map(viewOf)
    },
    async attempts({ emailKey, limit }) {
      const rows = await read
        .selectFrom('share_attempts')
        .selectAll()
        .$if(emailKey !== undefined, (query) => query.where('email_key', '=', emailKey ?? ''))
        .orderBy('id', 'desc')
        .limit(checkInteger(limit, 'limit', 1))
        .execute()
      return rows.map(attemptOf)
    },
    async redemptions({ emailKey, limit }) {
      const rows = await read
        .selectFrom('redemptions')
        .selectAll()
        .$if(emailKey !== undefined, (query) => query.where('email_key', '=', emailKey ?? ''))
        .orderBy('claimed_at', 'desc')
        .orderBy('external_user_id', 'desc')
        .limit(checkInteger(limit, 'limit', 1))
        .execute()
      return rows.map(redemptionFrom)
    },
    async verdicts(query) {
      checkInteger(query.limit, 'limit', 1)
      const { rows } = await read.executeQuery<Selectable<VerdictRow>>(verdictsQuery(engine, query))
      return rows.map(verdictOf)
    },
    async dueForQuestion(limit) {
      checkInteger(limit, 'limit', 1)
      const { rows } = await read.executeQuery<DueRow>(dueQuery(engine, limit))
      return rows.map(({ account_id, applicant_id }) => ({
        accountId: unpack<string>(account_id),
        applicantId: unpack<string>(applicant_id),
      }))
    },
    async countMissing() {
      const row = await read
        .selectFrom('verifications')
        .select(({ fn }) => fn.countAll<Integer>().as('count'))
        .where('missing_since', 'is not', null)
        .where('missing_confirmed', '=', 0)
        .executeTakeFirstOrThrow()
      return integer(row.count)
    },
    async forgetEvents(before, limit) {
      checkInteger(before, 'before')
      checkInteger(limit, 'limit', 1)
      const gone = await transaction((db) =>
        db
          .deleteFrom('provider_events')
          .where('event_key', 'in', (events) =>
            events
              .selectFrom('provider_events')
              .select('event_key')
              .where('at', '<', before)
              .orderBy('at')
              .limit(limit),
          )
          .returning('event_key')
          .execute(),
      )
      return gone.length
    },
  }

  function attemptOf(row: Selectable<ShareAttemptRow>): ShareAttempt {
    return {
      at: integer(row.at),
      integrationAddress: row.integration,
      emailKey: row.email_key,
      accountId: unpack<string>(row.account_id),
      outcome: row.outcome as ShareOutcome,
      externalUserId: unpack<string>(row.external_user_id),
      providerCode: nullableInteger(row.provider_code),
    }
  }
}

function verdictOf(row: Selectable<VerdictRow>): VerdictEntry {
  return {
    notedAt: integer(row.noted_at),
    accountId: unpack<string>(row.account_id),
    applicantId: unpack<string>(row.applicant_id),
    source: row.source as VerdictEntry['source'],
    news: row.news as VerdictEntry['news'],
    at: nullableInteger(row.at),
    review: unpack<Review>(row.review),
    outcome: row.outcome as VerdictEntry['outcome'],
  }
}

interface DueRow {
  readonly account_id: string
  readonly applicant_id: string | null
}

interface ViewRow extends StoredVerification {
  readonly email_key: string
}

function viewOf(row: ViewRow): VerificationView {
  const { claim, ...rest } = verificationOf(row)
  return { ...rest, emailKey: row.email_key, claimed: claim !== null }
}

/** Verifications with the address they belong to: accounts may be a host's own, so the log of attempts is asked first. */
export function listQuery(
  { differences }: Pick<Engine, 'differences'>,
  { emailKey, accountId, afterAccountId, limit }: VerificationQuery,
) {
  const { name } = differences
  const [attempts, accounts] = [`${name('share_attempts')} s`, `${name('identity_accounts')} a`]
  return compile<ViewRow>(differences, (parameter) => {
    const key = emailKey === undefined ? null : parameter(emailKey)
    const last = `(select s.email_key from ${attempts} where s.account_id = v.account_id order by s.id desc limit 1)`
    const resolved = `(select a.email_key from ${accounts} where a.account_id = v.account_id order by a.email_key limit 1)`
    const conditions = [
      ...(key === null ? [] : [`v.account_id in ${accountsOf(name, key)}`]),
      ...(accountId === undefined ? [] : [`v.account_id = ${parameter(pack(accountId))}`]),
      ...(afterAccountId === undefined ? [] : [`v.account_id > ${parameter(pack(afterAccountId))}`]),
    ]
    return `select ${verificationColumns}, 0 as lapsed, ${key ?? `coalesce(${last}, ${resolved}, '')`} as email_key
      from ${name('verifications')} v ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
      order by v.account_id limit ${parameter(limit)}`
  })
}

/** What the provider said, of the accounts of an address or of all. */
export function verdictsQuery({ differences }: Pick<Engine, 'differences'>, { emailKey, limit }: IdentityQuery) {
  const { name } = differences
  return compile<Selectable<VerdictRow>>(differences, (parameter) => {
    const where = emailKey === undefined ? '' : `where account_id in ${accountsOf(name, parameter(emailKey))}`
    return `select * from ${name('verdicts')} ${where} order by id desc limit ${parameter(limit)}`
  })
}

/** The accounts of an address, and those that have an applicant who was redeemed for it. */
function accountsOf(name: (table: string) => string, key: string): string {
  return `(select s.account_id from ${name('share_attempts')} s where s.email_key = ${key}
    union select a.account_id from ${name('identity_accounts')} a where a.email_key = ${key}
    union select h.account_id from ${name('redemptions')} r
      join ${name('verifications')} h on h.applicant_id = r.applicant_id where r.email_key = ${key})`
}

/** Accounts whose time has come. */
export function dueQuery({ differences }: Pick<Engine, 'differences'>, limit: number) {
  const { name, nowText } = differences
  return compile<DueRow>(
    differences,
    (parameter) => `select account_id, applicant_id from ${name('verifications')}
      where ask_at <= ${nowText(parameter)}
      order by ask_at, account_id limit ${parameter(limit)}`,
  )
}
