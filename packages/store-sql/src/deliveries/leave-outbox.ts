/** Removes deliveries from the outbox: delivered, exhausted or superseded. @module */
import type { Connection, Differences, Parameter } from '../engine.js'
import { sendKept } from '../internal/statement.js'

/** Removes deliveries from the outbox. */
export async function removeFromOutbox(db: Connection, differences: Differences, ids: readonly number[]) {
  if (ids.length === 0) return
  const { name, oneOf } = differences
  const text = (parameter: Parameter) => `delete from ${name('outbox')} where ${oneOf('id', 'integer', ids, parameter)}`
  await sendKept(db, differences, text)
}

/** Removes deliveries from the outbox and stores why they were not delivered. */
export async function giveUp(
  db: Connection,
  differences: Differences,
  reason: 'exhausted' | 'superseded',
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return
  const { name, oneOf } = differences
  const text = (parameter: Parameter) => `update ${name('deliveries')} set undelivered = ${parameter(reason)}
    where ${oneOf('id', 'integer', ids, parameter)}`
  await sendKept(db, differences, text)
  await removeFromOutbox(db, differences, ids)
}
