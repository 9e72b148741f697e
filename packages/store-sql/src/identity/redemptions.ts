/** Stores redemptions, and the logs of shares, verdicts and events. Source: docs/decisions/identity.md. @module */
import type {
  IdentityQuery,
  IdentityStore,
  IdentityTransaction,
  RedemptionRecord,
  RedemptionState,
  ShareRecord,
  VerdictRecord,
} from '@payment-integration/core/internal'
import type { Review } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Connection, Engine, Parameter, SqlDialect } from '../engine.js'
import { compile, run, type StatementText } from '../internal/statements.js'
import { checkInteger, pack, toNullableNumber, toNumber, unpack } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'

export function bindLogs(db: Connection): Pick<IdentityTransaction, 'logShare' | 'recordVerdict' | 'recordEvent'> {
  return {
    async logShare({ at, integrationAddress, subjectId, outcome, externalUserId, providerCode }) {
      await db
        .insertInto('identity_shares')
        .values({
          at: checkInteger(at, 'at'),
          integration: integrationAddress,
          subject_id: pack(subjectId),
          outcome,
          external_user_id: pack(externalUserId),
          provider_code: providerCode,
        })
        .execute()
    },
    async recordVerdict({ notedAt, subjectId, applicantId, source, change, at, review, outcome }) {
      await db
        .insertInto('identity_verdicts')
        .values({
          noted_at: checkInteger(notedAt, 'notedAt'),
          subject_id: pack(subjectId),
          applicant_id: pack(applicantId),
          source,
          change,
          at,
          outcome,
          review: pack(review),
        })
        .execute()
    },
    async recordEvent(eventKey, at) {
      const row = await db
        .insertInto('provider_events')
        .values({ event_key: pack(eventKey), at: checkInteger(at, 'at') })
        .onConflict((conflict) => conflict.column('event_key').doNothing())
        .returning('event_key')
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

type LogReads = Pick<IdentityStore, 'shares' | 'verdicts' | 'redemptions' | 'forgetEvents'>

export function createLogReads({ read, transaction }: Engine): LogReads {
  return {
    async shares(query) {
      const { rows } = await read.executeQuery<Selectable<Tables['identity_shares']>>(
        newestQuery(read, 'identity_shares', query),
      )
      return rows.map(toShare)
    },
    async verdicts(query) {
      const { rows } = await read.executeQuery<Selectable<Tables['identity_verdicts']>>(
        newestQuery(read, 'identity_verdicts', query),
      )
      return rows.map(toVerdict)
    },
    async redemptions(query) {
      const { rows } = await read.executeQuery<StoredRedemption>(newestQuery(read, 'identity_redemptions', query))
      return rows.map(toRedemption)
    },
    async forgetEvents(before, limit) {
      checkInteger(before, 'before')
      checkInteger(limit, 'limit', 1)
      const deleted = await transaction((db) =>
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
      return deleted.length
    },
  }
}

export function newestQuery(
  { dialect }: Pick<Connection, 'dialect'>,
  table: 'identity_shares' | 'identity_verdicts' | 'identity_redemptions',
  { emailKey, limit }: IdentityQuery,
) {
  const { name } = dialect
  checkInteger(limit, 'limit', 1)
  return compile<never>(dialect, (parameter) => {
    const [columns, order] =
      table === 'identity_redemptions' ? [redemptionColumns(dialect, parameter), 'r.seq'] : ['r.*', 'r.id']
    const ofAddress =
      emailKey === undefined
        ? ''
        : `where r.subject_id in (select s.id from ${name('identity_subjects')} s where s.email_key = ${parameter(emailKey)})`
    return `select ${columns} from ${name(table)} r ${ofAddress} order by ${order} desc limit ${parameter(limit)}`
  })
}

export function toShare(row: Selectable<Tables['identity_shares']>): ShareRecord {
  return {
    at: toNumber(row.at),
    integrationAddress: row.integration,
    subjectId: unpack<string>(row.subject_id),
    outcome: row.outcome as ShareRecord['outcome'],
    externalUserId: unpack<string>(row.external_user_id),
    providerCode: toNullableNumber(row.provider_code),
  }
}

export function toVerdict(row: Selectable<Tables['identity_verdicts']>): VerdictRecord {
  return {
    notedAt: toNumber(row.noted_at),
    subjectId: unpack<string>(row.subject_id),
    applicantId: unpack<string>(row.applicant_id),
    source: row.source as VerdictRecord['source'],
    change: row.change as VerdictRecord['change'],
    at: toNullableNumber(row.at),
    review: unpack<Review>(row.review),
    outcome: row.outcome as VerdictRecord['outcome'],
  }
}

type RedemptionTransaction = Pick<
  IdentityTransaction,
  'addRedemption' | 'changeRedemption' | 'redemption' | 'findAttachedRedemption' | 'openRedemptions'
>

export interface StoredRedemption
  extends Omit<Selectable<Tables['identity_redemptions']>, 'leased_until' | 'next_look_up_at'> {
  readonly is_leased: Integer
}

export function bindRedemptions(db: Connection): RedemptionTransaction {
  const table = db.dialect.name('identity_redemptions')
  const toFirst = ([row]: readonly StoredRedemption[]) => (row === undefined ? null : toRedemption(row))
  return {
    async addRedemption({ externalUserId, integrationAddress, levelName, isFindable, ...redemption }) {
      const [subjectId, number] = [pack(redemption.subjectId), checkInteger(redemption.number, 'number', 1)]
      const startedAt = checkInteger(redemption.startedAt, 'startedAt')
      const leaseMs = checkInteger(redemption.leaseMs, 'leaseMs')
      await run(db, (parameter) => {
        const values = [pack(externalUserId), subjectId, number, integrationAddress, pack(levelName)]
        const leaseEnd = () => formatLater(db.dialect, parameter, leaseMs)
        return `insert into ${table} (leased_until, next_look_up_at, external_user_id, subject_id,
            number, integration, level_name, is_findable, started_at, state)
          values (${leaseEnd()}, ${leaseEnd()}, ${[...values, isFindable ? 1 : 0, startedAt].map(parameter).join(', ')}, 'in_flight')`
      })
      const text: StatementText = (parameter) => `update ${db.dialect.name('identity_subjects')}
        set redemptions = ${parameter(number)} where id = ${parameter(subjectId)}`
      await run(db, text)
    },
    async changeRedemption(externalUserId, { state, applicantId, levelName, lookUpInMs }) {
      await run(db, (parameter) => {
        const unlessAttached = (column: string, value: string | null) =>
          `${column} = case when state = 'attached' then ${column} else ${parameter(value)} end`
        // The first assignment changes nothing; it keeps the list from being empty.
        const set = ['seq = seq']
        if (state !== undefined) set.push(unlessAttached('state', state))
        if (applicantId !== undefined) set.push(unlessAttached('applicant_id', pack(applicantId)))
        if (levelName !== undefined) set.push(unlessAttached('level_name', pack(levelName)))
        if (lookUpInMs === null) set.push('next_look_up_at = null')
        else if (lookUpInMs !== undefined)
          set.push(`next_look_up_at = ${formatLater(db.dialect, parameter, checkInteger(lookUpInMs, 'lookUpInMs'))}`)
        return `update ${table} set ${set.join(', ')} where external_user_id = ${parameter(pack(externalUserId))}`
      })
    },
    async redemption(externalUserId) {
      const text: StatementText = (parameter) => `select ${redemptionColumns(db.dialect, parameter)} from ${table} r
        where r.external_user_id = ${parameter(pack(externalUserId))}`
      return toFirst(await run<StoredRedemption>(db, text))
    },
    async findAttachedRedemption(applicantId) {
      const query = attachedQuery(db, applicantId)
      return toFirst((await db.executeQuery<StoredRedemption>(query)).rows)
    },
    async openRedemptions(query) {
      const { rows } = await db.executeQuery<StoredRedemption>(openQuery(db, query))
      return rows.map(toRedemption)
    },
  }
}

export function attachedQuery({ dialect }: Pick<Connection, 'dialect'>, applicantId: string) {
  return compile<StoredRedemption>(
    dialect,
    (parameter) => `select ${redemptionColumns(dialect, parameter)}
      from ${dialect.name('identity_redemptions')} r
      where r.applicant_id = ${parameter(pack(applicantId))} and r.state = 'attached' order by r.seq desc limit 1`,
  )
}

export function openQuery(
  { dialect }: Pick<Connection, 'dialect'>,
  { subjectIds, absentSince, limit }: Parameters<IdentityTransaction['openRedemptions']>[0],
) {
  checkInteger(limit, 'limit', 1)
  const ids = subjectIds.map((id) => pack(id))
  return compile<StoredRedemption>(dialect, (parameter) => {
    const columns = redemptionColumns(dialect, parameter)
    const ofSubjects = dialect.oneOf('r.subject_id', 'text', ids, parameter)
    return `select * from (select ${columns} from ${dialect.name('identity_redemptions')} r
        where ${ofSubjects} and (r.state in (${openStates})
          or (r.state = 'absent' and r.started_at >= ${parameter(checkInteger(absentSince, 'absentSince'))}))
        order by case when r.state = 'absent' then 1 else 0 end, r.seq desc limit ${parameter(limit)}) newest
      order by seq`
  })
}

/** SQL text: states of redemptions in flight or with an unknown outcome. */
export const openStates = "'in_flight', 'unknown', 'unresolved'"

function redemptionColumns({ nowText }: SqlDialect, parameter: Parameter): string {
  return `r.seq, r.external_user_id, r.subject_id, r.number, r.integration, r.level_name, r.is_findable, r.started_at,
    r.state, r.applicant_id, case when r.leased_until > ${nowText(parameter)} then 1 else 0 end as is_leased`
}

export function toRedemption(row: StoredRedemption): RedemptionRecord {
  return {
    externalUserId: unpack<string>(row.external_user_id),
    subjectId: unpack<string>(row.subject_id),
    number: toNumber(row.number),
    integrationAddress: row.integration,
    levelName: unpack<string>(row.level_name),
    isFindable: toNumber(row.is_findable) === 1,
    startedAt: toNumber(row.started_at),
    isLeased: toNumber(row.is_leased) === 1,
    state: row.state as RedemptionState,
    applicantId: unpack<string>(row.applicant_id),
  }
}

function formatLater({ nowText }: SqlDialect, parameter: Parameter, ms: number): string {
  return `${nowText(parameter)} + ${parameter(ms)}`
}
