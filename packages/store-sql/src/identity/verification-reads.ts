/** What operators and the questions read of verifications. @module */
import type { ShareAttempt, ShareOutcome, VerificationStore, VerificationView } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { compile } from '../internal/statement.js'
import { integer, nullableInteger, pack, unpack } from '../internal/values.js'
import type { ShareAttemptRow } from '../schema/tables.js'
import { type StoredVerification, verificationColumns, verificationOf } from './verification-row.js'

/** Reads outside of transactions. */
export function createVerificationStore(engine: Engine): VerificationStore {
  const { read } = engine
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
    async dueForQuestion(limit) {
      checkInteger(limit, 'limit', 1)
      const { rows } = await read.executeQuery<{ account_id: string; applicant_id: string }>(dueQuery(engine, limit))
      return rows.map(({ account_id, applicant_id }) => ({
        accountId: unpack<string>(account_id),
        applicantId: unpack<string>(applicant_id),
      }))
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
  { emailKey, afterAccountId, limit }: Parameters<VerificationStore['list']>[0],
) {
  const { name } = differences
  const [attempts, accounts] = [`${name('share_attempts')} s`, `${name('identity_accounts')} a`]
  return compile<ViewRow>(differences, (parameter) => {
    const key = emailKey === undefined ? null : parameter(emailKey)
    const last = `(select s.email_key from ${attempts} where s.account_id = v.account_id order by s.id desc limit 1)`
    const resolved = `(select a.email_key from ${accounts} where a.account_id = v.account_id order by a.email_key limit 1)`
    const conditions = [
      ...(key === null
        ? []
        : [
            `v.account_id in (select s.account_id from ${attempts} where s.email_key = ${key}
              union select a.account_id from ${accounts} where a.email_key = ${key})`,
          ]),
      ...(afterAccountId === undefined ? [] : [`v.account_id > ${parameter(pack(afterAccountId))}`]),
    ]
    return `select ${verificationColumns}, 0 as lapsed, ${key ?? `coalesce(${last}, ${resolved}, '')`} as email_key
      from ${name('verifications')} v ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
      order by v.account_id limit ${parameter(limit)}`
  })
}

/** Applicants whose time has come. */
export function dueQuery({ differences }: Pick<Engine, 'differences'>, limit: number) {
  const { name, nowText } = differences
  return compile<{ account_id: string; applicant_id: string }>(
    differences,
    (parameter) => `select account_id, applicant_id from ${name('verifications')}
      where ask_at <= ${nowText(parameter)} and applicant_id is not null
      order by ask_at, account_id limit ${parameter(limit)}`,
  )
}
