/** How a delivery leaves the outbox: it is delivered, unless it is given up. @module */
import type { Connection, Parameter, SqlDialect } from '../engine.js'
import { sendPrepared } from '../internal/statement.js'

/** Why a delivery is not tried any more. */
type GivenUp = 'exhausted' | 'superseded'

/** Takes deliveries out of the outbox. */
export async function takeOut(db: Connection, dialect: SqlDialect, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const { name, oneOf } = dialect
  const text = (parameter: Parameter) => `delete from ${name('outbox')} where ${oneOf('id', 'integer', ids, parameter)}`
  await sendPrepared(db, dialect, text)
}

/** Takes deliveries out of the outbox, and notes why they were not delivered. */
export async function giveUp(
  db: Connection,
  dialect: SqlDialect,
  reason: GivenUp,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return
  const { name, oneOf } = dialect
  const text = (parameter: Parameter) => `update ${name('deliveries')} set undelivered = ${parameter(reason)}
    where ${oneOf('id', 'integer', ids, parameter)}`
  await sendPrepared(db, dialect, text)
  await takeOut(db, dialect, ids)
}
