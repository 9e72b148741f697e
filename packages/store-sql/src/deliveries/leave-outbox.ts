/** Removes deliveries from the outbox: delivered, exhausted or superseded. @module */
import type { Connection, Parameter, SqlDialect } from '../engine.js'
import { sendPrepared } from '../internal/statement.js'

/** Removes deliveries from the outbox. */
export async function removeFromOutbox(db: Connection, dialect: SqlDialect, ids: readonly number[]) {
  if (ids.length === 0) return
  const { name, oneOf } = dialect
  const text = (parameter: Parameter) => `delete from ${name('outbox')} where ${oneOf('id', 'integer', ids, parameter)}`
  await sendPrepared(db, dialect, text)
}

/** Removes deliveries from the outbox and stores why they were not delivered. */
export async function giveUp(
  db: Connection,
  dialect: SqlDialect,
  reason: 'exhausted' | 'superseded',
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return
  const { name, oneOf } = dialect
  const text = (parameter: Parameter) => `update ${name('snapshots')} set undelivered = ${parameter(reason)}
    where ${oneOf('id', 'integer', ids, parameter)}`
  await sendPrepared(db, dialect, text)
  await removeFromOutbox(db, dialect, ids)
}
