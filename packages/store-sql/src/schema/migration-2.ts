/** Migration 2: what payments cost, payments off the chain, pages that hold still, accounts and legacy API keys. @module */
import type { ColumnTypes } from './column-types.js'

/** What payments of before cost: nothing is known of it. */
const unknownPricing = '{"listedToken":null,"feeds":[],"calledAmount":null,"serviceFee":null}'

/**
 * The statements of migration 2.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration2(types: ColumnTypes, name: (table: string) => string): string[] {
  const { integer, code, text, tableOptions } = types
  const table = (tableName: string, columns: string) => `create table ${name(tableName)} (${columns})${tableOptions}`
  const payments = name('payments')
  return [
    `alter table ${payments} add column pricing ${text} not null default '${unknownPricing}'`,
    `alter table ${payments} add column off_chain ${integer} not null default 0`,
    // A process of the release before fails to insert, instead of storing payments that never tell what they cost.
    ...(types.dropsDefaults
      ? [`alter table ${payments} alter column pricing drop default, alter column off_chain drop default`]
      : []),
    `create index payments_block on ${payments} (chain_id, block_number)`,
    table('page_epochs', `integration ${code} not null primary key, seq ${integer} not null`),
    table(
      'payment_moves',
      `payment_id ${integer} not null references ${payments} (id), seq ${integer} not null,
       integration ${code} not null, block_timestamp ${integer} not null, primary key (payment_id, seq)`,
    ),
    `create index payment_moves_since on ${name('payment_moves')} (integration, seq)`,
    table(
      'accounts',
      `handle ${code} not null primary key, address ${code} not null, config ${text} not null,
       created_at ${integer} not null`,
    ),
    table(
      'account_addresses',
      `address ${code} not null, handle ${code} not null references ${name('accounts')} (handle) on delete cascade,
       primary key (address, handle)`,
    ),
    `create index account_addresses_handle on ${name('account_addresses')} (handle)`,
    table(
      'legacy_keys',
      `id ${code} not null primary key, name ${text} not null, hash ${code} not null, key_version ${integer} not null,
       created_at ${integer} not null, revoked_at ${integer}, unique (hash, key_version)`,
    ),
  ]
}
