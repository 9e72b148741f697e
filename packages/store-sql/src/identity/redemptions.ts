/** Attempts that may have sent a token, under a name of their own. Source: DESIGN section 5.4; the port. @module */
import type { RedemptionAttempt, RedemptionState, VerificationTransaction } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Connection, Differences, Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { compile, run } from '../internal/statement.js'
import { integer, pack, unpack } from '../internal/values.js'
import type { RedemptionRow } from '../schema/identity-tables.js'

/** What a transaction does with attempts. */
type RedemptionTransaction = Pick<
  VerificationTransaction,
  | 'addRedemption'
  | 'passRedemptions'
  | 'keepRedemption'
  | 'endRedemption'
  | 'redemption'
  | 'redemptionOf'
  | 'doubtfulRedemptions'
>

/** Binds the operations to a transaction's connection. */
export function redemptionsIn(db: Connection, differences: Differences): RedemptionTransaction {
  return {
    addRedemption: (attempt) => add(db, attempt),
    async passRedemptions(address) {
      await db.executeQuery(passQuery({ differences }, address))
    },
    async keepRedemption(externalUserId, accountId) {
      await db
        .updateTable('redemptions')
        .set({ taken_by: pack(accountId) })
        .where('external_user_id', '=', pack(externalUserId))
        .execute()
    },
    async endRedemption(externalUserId, state, applicantId) {
      await db
        .updateTable('redemptions')
        .set({ state, ...(applicantId === undefined ? {} : { applicant_id: pack(applicantId) }) })
        .where('external_user_id', '=', pack(externalUserId))
        .where('state', '<>', 'attached')
        .execute()
    },
    redemption: (externalUserId) => findRedemption(db, externalUserId),
    async redemptionOf(applicantId) {
      const { rows } = await db.executeQuery<Selectable<RedemptionRow>>(ofApplicantQuery({ differences }, applicantId))
      return rows[0] === undefined ? null : redemptionFrom(rows[0])
    },
    async doubtfulRedemptions({ accountId, afterNumber, absentSince, limit }) {
      checkInteger(limit, 'limit', 1)
      const rows = await run<Selectable<RedemptionRow>>(
        db,
        differences,
        (parameter) => `select * from ${differences.name('redemptions')}
          where account_id = ${parameter(pack(accountId))} and number > ${parameter(checkInteger(afterNumber, 'afterNumber'))}
            and (state in ('claimed', 'unknown', 'unresolved')
              or (state = 'absent' and claimed_at >= ${parameter(checkInteger(absentSince, 'absentSince'))}))
          order by case when state = 'absent' then 1 else 0 end, number desc limit ${parameter(limit)}`,
      )
      return rows.map(redemptionFrom)
    },
  }
}

/** The attempt that had a name, or null. */
export async function findRedemption(db: Connection, externalUserId: string): Promise<RedemptionAttempt | null> {
  const row = await db
    .selectFrom('redemptions')
    .selectAll()
    .where('external_user_id', '=', pack(externalUserId))
    .executeTakeFirst()
  return row === undefined ? null : redemptionFrom(row)
}

/** What {@link VerificationTransaction.passRedemptions} writes. */
export function passQuery(
  { differences }: Pick<Engine, 'differences'>,
  { emailKey, fromId, toId }: { readonly emailKey: string; readonly fromId: string; readonly toId: string },
) {
  return compile(
    differences,
    (parameter) => `update ${differences.name('redemptions')} set taken_by = ${parameter(pack(toId))}
      where email_key = ${parameter(emailKey)} and coalesce(taken_by, account_id) = ${parameter(pack(fromId))}`,
  )
}

/** The attempt that an applicant came from: one that was attached, the newest where its applicant was more than once. */
export function ofApplicantQuery({ differences }: Pick<Engine, 'differences'>, applicantId: string) {
  return compile<Selectable<RedemptionRow>>(
    differences,
    (parameter) => `select * from ${differences.name('redemptions')}
      where applicant_id = ${parameter(pack(applicantId))} and state = 'attached'
      order by claimed_at desc, number desc limit 1`,
  )
}

/** The attempt in a row. */
export function redemptionFrom(row: Selectable<RedemptionRow>): RedemptionAttempt {
  return {
    externalUserId: unpack<string>(row.external_user_id),
    accountId: unpack<string>(row.account_id),
    number: integer(row.number),
    integrationAddress: row.integration,
    emailKey: row.email_key,
    levelName: unpack<string>(row.level_name),
    isFindable: integer(row.is_findable) === 1,
    claimedAt: integer(row.claimed_at),
    replaces: unpack<string>(row.replaces),
    takenBy: unpack<string>(row.taken_by),
    state: row.state as RedemptionState,
    applicantId: unpack<string>(row.applicant_id),
  }
}

async function add(db: Connection, attempt: RedemptionAttempt): Promise<void> {
  await db
    .insertInto('redemptions')
    .values({
      external_user_id: pack(attempt.externalUserId),
      account_id: pack(attempt.accountId),
      number: checkInteger(attempt.number, 'number', 1),
      integration: attempt.integrationAddress,
      email_key: attempt.emailKey,
      level_name: pack(attempt.levelName),
      is_findable: attempt.isFindable ? 1 : 0,
      claimed_at: checkInteger(attempt.claimedAt, 'claimedAt'),
      replaces: pack(attempt.replaces),
      taken_by: pack(attempt.takenBy),
      state: attempt.state,
      applicant_id: pack(attempt.applicantId),
    })
    .execute()
}
