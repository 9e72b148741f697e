/** Stores subjects and redemptions, and reads them outside transactions. @module */
import type { IdentityStore, IdentityTransaction, SubjectQuery } from '@payment-integration/core/internal'
import type { Connection, Engine } from '../engine.js'
import { compile, run, type StatementText } from '../internal/statements.js'
import { checkInteger, pack, toNumber, unpack } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import { createAccountReads } from './accounts.js'
import { bindLogs, bindRedemptions, createLogReads, openStates } from './redemptions.js'
import { bindSubjects, lockPersons, type StoredSubject, subjectColumns, toSubject } from './subjects.js'

export function bindIdentity(db: Connection): IdentityTransaction {
  return {
    ...bindSubjects(db),
    lockPersons: (query) => lockPersons(db, query),
    ...bindRedemptions(db),
    ...bindLogs(db),
  }
}

/** Concurrent statements have slightly different times; such a difference does not count as a clock ahead. */
const slackMs = 60_000

export function createIdentityStore(engine: Engine): IdentityStore {
  const { read, transaction } = engine
  return {
    ...createLogReads(engine),
    ...createAccountReads(engine),
    async subjects(query) {
      const { rows } = await read.executeQuery(subjectsQuery(read, query))
      return rows.map((row) => ({ ...toSubject(row), isOpen: toNumber(row.is_open) === 1 }))
    },
    async dueLookUps(limit) {
      const { rows } = await read.executeQuery(dueLookUpsQuery(read, limit))
      return rows.map(({ external_user_id, subject_id }) => ({
        externalUserId: unpack<string>(external_user_id),
        subjectId: unpack<string>(subject_id),
      }))
    },
    async duePolls(limit) {
      const { rows } = await read.executeQuery(duePollsQuery(read, limit))
      return rows.map(({ id, applicant_id }) => ({
        subjectId: unpack<string>(id),
        applicantId: unpack<string>(applicant_id),
      }))
    },
    // Corrects times written while a clock was ahead. See docs/runbooks/README.md.
    async resetOverlongWaits({ leaseMs, lookUpMs, pollMs }) {
      for (const ms of [leaseMs, lookUpMs, pollMs]) checkInteger(ms, 'ms')
      const { name, nowText } = read.dialect
      return transaction(async (db) => {
        // Every open redemption has a next look-up.
        const redemptions = await run<unknown>(db, (parameter) => {
          const now = nowText(parameter)
          const leasedAhead = `leased_until > ${now} + ${leaseMs + slackMs}`
          const lookUpAhead = `next_look_up_at > ${now} + ${lookUpMs + slackMs}`
          return `update ${name('identity_redemptions')} set
              leased_until = case when ${leasedAhead} then ${now} + ${leaseMs} else leased_until end,
              next_look_up_at = case when ${lookUpAhead} then ${now} else next_look_up_at end
            where next_look_up_at is not null and (${leasedAhead} or ${lookUpAhead}) returning 1 as corrected`
        })
        const pollsText: StatementText = (parameter) => `update ${name('identity_subjects')}
          set next_poll_at = ${nowText(parameter)}
          where next_poll_at > ${nowText(parameter)} + ${pollMs + slackMs} returning 1 as corrected`
        const subjects = await run<unknown>(db, pollsText)
        return redemptions.length + subjects.length
      })
    },
    async countMissing() {
      const { rows } = await read.executeQuery(missingQuery(read))
      return toNumber(rows[0]?.count ?? 0)
    },
  }
}

export function subjectsQuery({ dialect }: Pick<Connection, 'dialect'>, query: SubjectQuery) {
  const { name } = dialect
  const limit = checkInteger(query.limit, 'limit', 1)
  return compile<StoredSubject & { readonly is_open: Integer }>(dialect, (parameter) => {
    const where = (condition: string, value: string | undefined) =>
      value === undefined ? [] : [`${condition} ${parameter(value)}`]
    const conditions = [
      ...where('id =', query.id && pack(query.id)),
      ...where('email_key =', query.emailKey),
      ...where('account_id =', query.accountId && pack(query.accountId)),
      ...where('id >', query.afterId && pack(query.afterId)),
    ]
    // Without the limit PostgreSQL would hash all redemptions for a page.
    const isOpen = `select 1 from ${name('identity_redemptions')} r
      where r.subject_id = s.id and r.state in (${openStates}) limit 1`
    return `select ${subjectColumns}, coalesce((${isOpen}), 0) as is_open
      from ${name('identity_subjects')} s ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
      order by s.id limit ${parameter(limit)}`
  })
}

export function dueLookUpsQuery({ dialect }: Pick<Connection, 'dialect'>, limit: number) {
  checkInteger(limit, 'limit', 1)
  return compile<{ external_user_id: string; subject_id: string }>(
    dialect,
    (parameter) => `select external_user_id, subject_id from ${dialect.name('identity_redemptions')}
      where next_look_up_at <= ${dialect.nowText(parameter)} order by next_look_up_at, seq limit ${parameter(limit)}`,
  )
}

export function duePollsQuery({ dialect }: Pick<Connection, 'dialect'>, limit: number) {
  checkInteger(limit, 'limit', 1)
  return compile<{ id: string; applicant_id: string }>(
    dialect,
    (parameter) => `select id, applicant_id from ${dialect.name('identity_subjects')}
      where next_poll_at <= ${dialect.nowText(parameter)} and applicant_id is not null
      order by next_poll_at, seq limit ${parameter(limit)}`,
  )
}

export function missingQuery({ dialect }: Pick<Connection, 'dialect'>) {
  return compile<{ count: Integer }>(
    dialect,
    () => `select count(*) as count from ${dialect.name('identity_subjects')} where missing_confirmed = 0`,
  )
}
