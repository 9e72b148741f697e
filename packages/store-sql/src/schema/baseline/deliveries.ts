/** Creates the tables of deliveries: the log, the outbox, attempts and endpoints. @module */
import { createTable, type Statements } from '../migration.js'

/** Deliveries, the outbox of those that are pending, their attempts, and the endpoints whose last attempt failed. */
export const deliveryTables: Statements = (types, name) => {
  const { id, integer, int, short, code, text, real, hasBulkForeignKeys } = types
  const [deliveries, outbox, endpoints] = [name('deliveries'), name('outbox'), name('endpoints')]
  const foreignKey = (definition: string) => (hasBulkForeignKeys ? `, foreign key ${definition}` : '')
  return [
    createTable(
      types,
      deliveries,
      `id ${id}, payment_id ${integer} not null, version ${integer} not null, integration ${code} not null,
       created_at ${integer}, undelivered ${code}, unique (payment_id, version)
       ${foreignKey(`(integration) references ${name('integrations')} (address)`)}
       ${foreignKey(`(payment_id, version) references ${name('snapshots')} (payment_id, version)`)}`,
    ),
    // Most deliveries are delivered and listed by the primary key; this index lists the others.
    `create index deliveries_undelivered on ${deliveries} (undelivered, id) where undelivered is not null`,
    // The stream of an integration.
    `create index deliveries_integration on ${deliveries} (integration, id)`,
    createTable(
      types,
      outbox,
      `id ${integer} not null primary key, payment_id ${integer} not null, version ${integer} not null,
       integration ${code} not null, lane ${integer} not null, due_at ${integer} not null, claim_token ${text},
       attempted ${integer} not null, schedule_from ${integer} not null, replayed_at ${integer}, created_at ${integer}`,
    ),
    `create index outbox_due on ${outbox} (lane, integration, due_at, id)`,
    createTable(
      types,
      name('attempts'),
      `delivery_id ${integer} not null, started_at ${integer} not null, latency_ms ${real} not null,
       number ${int} not null, status ${short}, replay ${short} not null, reason ${text}, excerpt ${text},
       primary key (delivery_id, number)${foreignKey(`(delivery_id) references ${deliveries} (id)`)}`,
    ),
    createTable(
      types,
      endpoints,
      `integration ${code} not null primary key, failures ${integer} not null, blocks ${integer} not null,
       failing_since ${integer} not null, blocked_until ${integer}`,
    ),
    `create index endpoints_blocked on ${endpoints} (blocked_until) where blocks > 0`,
  ]
}
