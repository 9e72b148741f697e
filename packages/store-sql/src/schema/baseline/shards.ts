/** Creates what only the shards of a database have. Source: docs/decisions/shards.md. @module */
import { createTable, type Statements } from '../migration.js'

/**
 * The directory, and checks that each row is in its shard. A row of the directory is in the shard of its own key, and
 * names the shard of a payment or of an update.
 */
export const shardTables: Statements = (types, name) => {
  const { shard, integer, int, short, code, bytes } = types
  if (shard === null) return []
  const check = (table: string, ...conditions: readonly string[]) =>
    `alter table ${name(table)} add constraint ${table}_shard check (${conditions.join(' and ')})`
  // A process that does not know of the shards writes nothing where nobody looks.
  if (shard === 'main')
    return ['integrations', 'payments', 'deposits', 'snapshots', 'outbox', 'updates'].map((table) =>
      check(table, 'false'),
    )
  const { number, count } = shard
  const isOwn = (id: string) => `${id} % ${count} = ${number}`
  const isHashed = (value: string) => `get_byte(sha256(${value}), 0) % ${count} = ${number}`
  const noIntegration = number === 0 ? 'true' : 'false'
  const ofIntegration = (column: string) =>
    `case when ${column} is null then ${noIntegration} else ${isHashed(column)} end`
  return [
    createTable(
      types,
      name('payment_shards'),
      `chain_id ${integer} not null, ordinal ${int} not null, shard ${short} not null, tx_hash ${bytes} not null,
       primary key (tx_hash, chain_id, ordinal)`,
    ),
    createTable(types, name('update_shards'), `shard ${short} not null, id ${code} not null primary key`),
    check('integrations', isHashed('address')),
    check('payments', isOwn('id'), ofIntegration('integration')),
    check('snapshots', isOwn('id'), isOwn('payment_id')),
    check('outbox', isOwn('id')),
    check('attempts', isOwn('delivery_id')),
    ...['statuses', 'unsettled', 'payment_moves'].map((table) => check(table, isOwn('payment_id'))),
    check('updates', `case when payment_id is null then ${isHashed('tx_hash')} else ${isOwn('payment_id')} end`),
    check('payment_shards', isHashed('tx_hash')),
    check('update_shards', isHashed("convert_to(id, 'UTF8')")),
  ]
}
