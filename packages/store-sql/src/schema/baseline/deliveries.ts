/** Creates the tables of versions and their deliveries: snapshots, outbox, attempts and endpoints. @module */
import { createTable, type Statements } from '../migration.js'
import { createPartitions, firstSegment } from '../partitions.js'

/** Snapshots, the outbox of pending deliveries, their attempts, and the endpoints whose last attempt failed. */
export const deliveryTables: Statements = (types, name) => {
  const { segmentId, hasPartitions, integer, int, short, code, text, bytes, real, hasBulkForeignKeys } = types
  const [snapshots, outbox, endpoints] = [name('snapshots'), name('outbox'), name('endpoints')]
  const segments = name('segments')
  const foreignKey = (definition: string) => (hasBulkForeignKeys ? `, foreign key ${definition}` : '')
  return [
    createTable(
      types,
      snapshots,
      `id ${segmentId}, payment_id ${integer} not null, created_at ${integer} not null, version ${int} not null,
       integration ${bytes}, undelivered ${code}, body ${bytes} not null
       ${hasPartitions ? '' : ', unique (payment_id, version)'}
       ${foreignKey(`(payment_id) references ${name('payments')} (id)`)}
       ${foreignKey(`(integration) references ${name('integrations')} (address)`)}`,
      { segmentedBy: 'id' },
    ),
    // The stream of an integration.
    `create index snapshots_integration on ${snapshots} (integration, id) where integration is not null`,
    // Most deliveries are delivered and listed by the primary key; this index lists the others.
    `create index snapshots_undelivered on ${snapshots} (undelivered, id) where undelivered is not null`,
    createTable(
      types,
      outbox,
      `id ${integer} not null primary key, due_at ${integer} not null, replayed_at ${integer},
       attempted ${int} not null, schedule_from ${int} not null, lane ${short} not null,
       integration ${bytes} not null, claim_token ${text}`,
    ),
    `create index outbox_due on ${outbox} (lane, integration, due_at, id)`,
    createTable(
      types,
      name('attempts'),
      `delivery_id ${integer} not null, started_at ${integer} not null, latency_ms ${real} not null,
       number ${int} not null, status ${short}, replay ${short} not null, reason ${text}, excerpt ${text},
       primary key (delivery_id, number)${foreignKey(`(delivery_id) references ${snapshots} (id)`)}`,
      { segmentedBy: 'delivery_id' },
    ),
    ...(hasPartitions ? createPartitions(name, firstSegment) : []),
    // Where each segment after the first one begins.
    createTable(
      types,
      segments,
      `number ${int} not null primary key, begun_at ${integer} not null, first_delivery ${integer} not null,
       first_update ${integer} not null, closes ${short} not null`,
    ),
    createTable(
      types,
      endpoints,
      `failures ${integer} not null, blocks ${integer} not null, failing_since ${integer} not null,
       blocked_until ${integer}, integration ${bytes} not null primary key`,
    ),
    `create index endpoints_blocked on ${endpoints} (blocked_until) where blocks > 0`,
  ]
}
