/** The tables of the first release, in the order of their foreign keys. @module */
import { identityTables } from './identity-baseline.js'
import { createTable, type Statements } from './migration.js'
import { createPartitions, firstSegment } from './partitions.js'

const legacyTables: Statements = (types, name) => {
  const { integer, code, text } = types
  return [
    createTable(
      types,
      name('accounts'),
      `handle ${code} not null primary key, address ${code} not null, config ${text} not null,
       created_at ${integer} not null`,
    ),
    createTable(
      types,
      name('account_addresses'),
      `address ${code} not null, handle ${code} not null references ${name('accounts')} (handle) on delete cascade,
       primary key (address, handle)`,
    ),
    `create index account_addresses_handle on ${name('account_addresses')} (handle)`,
    createTable(
      types,
      name('legacy_keys'),
      `id ${code} not null primary key, name ${text} not null, hash ${code} not null, key_version ${integer} not null,
       created_at ${integer} not null, revoked_at ${integer}, unique (hash, key_version)`,
    ),
  ]
}

const chainTables: Statements = (types, name) => {
  const { segmentId, integer, code, text } = types
  const deposits = name('deposits')
  return [
    createTable(
      types,
      name('checkpoints'),
      `chain_id ${integer} not null, block_number ${integer} not null, block_hash ${code} not null, reached ${integer},
       primary key (chain_id, block_number)`,
    ),
    createTable(
      types,
      name('proofs'),
      `chain_id ${integer} not null, from_block ${integer} not null, to_block ${integer} not null,
       proof ${text} not null, node ${text} not null, primary key (chain_id, from_block)`,
    ),
    createTable(
      types,
      name('coverage'),
      `chain_id ${integer} not null, router ${code} not null, from_block ${integer} not null, to_block ${integer},
       primary key (chain_id, router)`,
    ),
    createTable(
      types,
      deposits,
      `id ${segmentId}, chain_id ${integer} not null, tx_hash ${code} not null, ordinal ${integer} not null,
       block_number ${integer} not null, waiting ${integer} not null, body ${text} not null,
       unique (chain_id, tx_hash, ordinal)`,
    ),
    `create index deposits_waiting on ${deposits} (id) where waiting = 1`,
    `create index deposits_block on ${deposits} (chain_id, block_number) where waiting = 1`,
  ]
}

/** Snapshots, the outbox of pending deliveries, their attempts, and the endpoints whose last attempt failed. */
const deliveryTables: Statements = (types, name) => {
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
    // For the delivery stream of one integration.
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

const integrationTables: Statements = (types, name) => {
  const { integer, code, text, bytes } = types
  return [
    createTable(
      types,
      name('integrations'),
      `address ${bytes} not null primary key, name ${text} not null, notification_url ${text},
       enabled ${integer} not null, api_key_version ${integer}, api_hash ${text},
       previous_key_version ${integer}, previous_hash ${text}, previous_until ${integer},
       signing_key_version ${integer} not null, signing_sealed ${text} not null,
       prepared_signing_key_version ${integer}, prepared_signing_sealed ${text},
       previous_signing_key_version ${integer}, previous_signing_sealed ${text}, previous_signing_until ${integer},
       created_at ${integer} not null, endpoint_epoch ${integer} not null`,
    ),
    // Open sessions by the hash of the token, each with the hash of the API secret that opened it.
    createTable(
      types,
      name('integration_sessions'),
      `hash ${code} not null primary key,
       integration ${bytes} not null references ${name('integrations')} (address), api_hash ${text} not null,
       created_at ${integer} not null, expires_at ${integer} not null`,
    ),
    `create index integration_sessions_integration on ${name('integration_sessions')} (integration)`,
    `create index integration_sessions_expiry on ${name('integration_sessions')} (expires_at)`,
  ]
}

/** Operators with their sessions, the audit log, sealed keys and leases. */
const operatorTables: Statements = (types, name) => {
  const { integer, code, text } = types
  return [
    createTable(
      types,
      name('operators'),
      `name ${code} not null primary key, role ${code} not null, enabled ${integer} not null, passphrase ${text},
       link_hash ${code} unique, link_expires_at ${integer}, created_at ${integer} not null`,
    ),
    createTable(
      types,
      name('operator_sessions'),
      `hash ${code} not null primary key, operator ${code} not null references ${name('operators')} (name),
       created_at ${integer} not null, expires_at ${integer} not null`,
    ),
    `create index operator_sessions_operator on ${name('operator_sessions')} (operator)`,
    `create index operator_sessions_expiry on ${name('operator_sessions')} (expires_at)`,
    createTable(
      types,
      name('audit'),
      `seq ${integer} not null primary key, at ${integer} not null, actor ${text} not null, action ${text} not null,
       subject ${text} not null, details ${text} not null, key_version ${integer} not null, hash ${text} not null`,
    ),
    createTable(
      types,
      name('data_keys'),
      `purpose ${code} not null primary key, key_version ${integer} not null, sealed ${text} not null`,
    ),
    createTable(
      types,
      name('leases'),
      `name ${code} not null primary key, holder ${text} not null, expires_at ${integer} not null`,
    ),
  ]
}

/** Payments, their statuses, and the repositions that keep page positions valid while block times change. */
const paymentTables: Statements = (types, name) => {
  const { id, integer, int, short, text, bytes, hasBulkForeignKeys } = types
  const payments = name('payments')
  const reference = hasBulkForeignKeys ? ` references ${payments} (id)` : ''
  return [
    createTable(
      types,
      payments,
      // Columns of equal size are together, widest first: PostgreSQL adds no padding between them.
      `id ${id}, chain_id ${integer} not null, block_number ${integer} not null, block_timestamp ${integer} not null,
       source_chain_id ${integer}, ordinal ${int} not null, log_index ${int} not null,
       token_in_decimals ${short} not null, token_out_decimals ${short}, is_primary ${short} not null,
       off_chain ${short} not null, tx_hash ${bytes} not null, block_hash ${bytes} not null,
       router_address ${bytes} not null, router_version ${text} not null, sender ${bytes} not null,
       receiver ${bytes} not null, memo ${bytes} not null, integration ${bytes}, source_tx_hash ${bytes},
       token_in_address ${bytes} not null, token_in_symbol ${text}, token_in_amount ${text} not null,
       token_out_address ${bytes}, token_out_symbol ${text}, token_out_gross ${text} not null,
       token_out_net ${text} not null, pricing ${text}, dropped ${text},
       unique (tx_hash, chain_id, ordinal)`,
    ),
    // Pages: one index per filter, in the order of docs/interface.md 4.1 up to the block time, read backwards.
    // Payments with the same block time are sorted by each query.
    `create index payments_page on ${payments} (integration, block_timestamp) where is_primary = 1`,
    `create index payments_page_sender on ${payments} (integration, sender, block_timestamp) where is_primary = 1`,
    `create index payments_page_receiver on ${payments} (integration, receiver, block_timestamp) where is_primary = 1`,
    `create index payments_block on ${payments} (chain_id, block_number)`,
    // The first column is always 1: it makes SQLite's planner prefer this index to payments_block.
    `create index payments_overdue on ${payments} (off_chain, chain_id, block_number, id)
     where off_chain = 1 and dropped is null`,
    // The status of each payment that was changed; the others have the initial one.
    createTable(
      types,
      name('statuses'),
      `payment_id ${integer} not null primary key${reference}, block_timestamp ${integer} not null,
       version ${int} not null, state ${text}, recipient ${text}, invoice ${text}`,
      { fill: 80 },
    ),
    // Primary payments without a final state. Receipt polling lists this table, so `statuses` needs no index of states.
    createTable(
      types,
      name('unsettled'),
      `chain_id ${integer} not null, payment_id ${integer} not null, primary key (chain_id, payment_id)`,
    ),
    createTable(types, name('page_epochs'), `integration ${bytes} not null primary key, seq ${integer} not null`),
    createTable(
      types,
      name('payment_repositions'),
      `payment_id ${integer} not null references ${payments} (id), seq ${integer} not null,
       integration ${bytes} not null, block_timestamp ${integer} not null, primary key (payment_id, seq)`,
    ),
    `create index payment_repositions_since on ${name('payment_repositions')} (integration, seq)`,
  ]
}

/** Every processor update that was received, with an index of the waiting ones. */
const updateTable: Statements = (types, name) => {
  const { sequence, isStoredInSequence, integer, int, code, text, bytes } = types
  return [
    createTable(
      types,
      name('updates'),
      `seq ${sequence}, payment_id ${integer}, chain_id ${integer}, version ${int},
       id ${code} not null ${isStoredInSequence ? 'unique' : 'primary key'}, fingerprint ${bytes} not null,
       outcome ${code} not null, tx_hash ${bytes}, body ${text}, reason ${text}`,
    ),
    `create index updates_waiting on ${name('updates')} (chain_id, tx_hash, seq) where outcome = 'waiting'`,
  ]
}

/** The schema of the first release. Once released, it never changes. */
export const baseline: Statements = (types, name) =>
  [
    paymentTables,
    integrationTables,
    deliveryTables,
    updateTable,
    chainTables,
    legacyTables,
    identityTables,
    operatorTables,
  ].flatMap((part) => part(types, name))
