/**
 * The log of shares, verdicts, and events of the provider. Source: docs/interface.md 3; docs/decisions/identity.md.
 * @module
 */
import type {
  IdentityQuery,
  IdentityStore,
  IdentityTransaction,
  Review,
  ShareRecord,
  VerdictRecord,
} from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { compile } from '../internal/statement.js'
import { integer, nullableInteger, pack, unpack } from '../internal/values.js'
import type { ShareRow, VerdictRow } from '../schema/identity-tables.js'

/** Binds the operations to a transaction's connection. */
export function logsIn(db: Connection): Pick<IdentityTransaction, 'logShare' | 'noteVerdict' | 'noteEvent'> {
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
    async noteVerdict({ notedAt, subjectId, applicantId, source, change, at, review, outcome }) {
      await db
        .insertInto('identity_verdicts')
        .values({
          noted_at: checkInteger(notedAt, 'notedAt'),
          subject_id: pack(subjectId),
          applicant_id: pack(applicantId),
          ...{ source, change, at, outcome },
          review: pack(review),
        })
        .execute()
    },
    async noteEvent(eventKey, at) {
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

/** The reads outside of transactions. */
export function createLogReads(engine: Engine): Pick<IdentityStore, 'shares' | 'verdicts' | 'forgetEvents'> {
  const { read, transaction } = engine
  return {
    async shares(query) {
      const { rows } = await read.executeQuery<Selectable<ShareRow>>(newestQuery(engine, 'identity_shares', query))
      return rows.map(shareFrom)
    },
    async verdicts(query) {
      const { rows } = await read.executeQuery<Selectable<VerdictRow>>(newestQuery(engine, 'identity_verdicts', query))
      return rows.map(verdictFrom)
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
}

/** The newest entries of a log, of the subjects of an address or of all. */
export function newestQuery(
  { dialect }: Pick<Engine, 'dialect'>,
  log: 'identity_shares' | 'identity_verdicts',
  { emailKey, limit }: IdentityQuery,
) {
  const { name } = dialect
  checkInteger(limit, 'limit', 1)
  return compile<never>(dialect, (parameter) => {
    const ofAddress =
      emailKey === undefined
        ? ''
        : `where subject_id in (select s.id from ${name('identity_subjects')} s where s.email_key = ${parameter(emailKey)})`
    return `select * from ${name(log)} ${ofAddress} order by id desc limit ${parameter(limit)}`
  })
}

/** The share in a row. */
export function shareFrom(row: Selectable<ShareRow>): ShareRecord {
  return {
    at: integer(row.at),
    integrationAddress: row.integration,
    subjectId: unpack<string>(row.subject_id),
    outcome: row.outcome as ShareRecord['outcome'],
    externalUserId: unpack<string>(row.external_user_id),
    providerCode: nullableInteger(row.provider_code),
  }
}

/** The report in a row. */
export function verdictFrom(row: Selectable<VerdictRow>): VerdictRecord {
  return {
    notedAt: integer(row.noted_at),
    subjectId: unpack<string>(row.subject_id),
    applicantId: unpack<string>(row.applicant_id),
    source: row.source as VerdictRecord['source'],
    change: row.change as VerdictRecord['change'],
    at: nullableInteger(row.at),
    review: unpack<Review>(row.review),
    outcome: row.outcome as VerdictRecord['outcome'],
  }
}
