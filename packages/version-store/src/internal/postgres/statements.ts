/** The table of versions, and the statements on it. Source: INTERFACE 6, receiver obligations ("store `version` per payment"). @module */

import { pageSize } from '../pages.js'

/** SQL with room for values. */
export interface Statement {
  /** In the form of a tagged template, from which some drivers make their own. */
  readonly pieces: TemplateStringsArray
  /** With numbered places, as the server takes it. */
  readonly text: string
  /** For a server that keeps its plan; another text has another name. */
  readonly name: string | undefined
}

/** How long the database lets a transaction of the store take, in milliseconds, besides what it may wait for its lock. */
export interface Limits {
  readonly statementMs: number
  readonly idleMs: number
}

/** @throws {TypeError} When it is no plain lower-case name, after a schema's name and a dot or alone. */
export function quoteTable(table: string): string {
  if (!/^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$/.test(table))
    throw new TypeError('table must be 1 to 63 lower-case letters, digits and underscores, with or without a schema.')
  return table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.')
}

/** Creates the table where it is missing. Versions are no part of the key, so that an update touches no index. */
export function tableSql(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${quoteTable(table)} (
  integration_address text COLLATE "C" NOT NULL,
  chain_id text COLLATE "C" NOT NULL,
  tx_hash text COLLATE "C" NOT NULL,
  version bigint NOT NULL CHECK (version > 0),
  PRIMARY KEY (integration_address, chain_id, tx_hash)
) WITH (fillfactor = 90)`
}

/**
 * Takes the version if it is greater, and gives the transaction's number; gives no row else. It waits for whoever takes a version of
 * this payment, in the order that the database keeps, and then looks at what that one stored. With limits it sets them first, for its
 * transaction alone: in the same statement, because another one would cost a round trip. Its values are the payment and the version;
 * with limits, before them the milliseconds that it may wait for a lock.
 */
export function claimStatement(table: string, limits?: Limits): Statement {
  const target = `INTO ${quoteTable(table)} AS kept (integration_address, chain_id, tx_hash, version)`
  const from = limits ? ' FROM limits' : ''
  return statement(
    ...(limits
      ? [`WITH limits AS (SELECT set_config('lock_timeout', `, `, true)${settings(limits)}) INSERT ${target} SELECT `]
      : [`INSERT ${target} SELECT `]),
    '::text, ',
    '::text, ',
    '::text, ',
    `::bigint${from}
ON CONFLICT (integration_address, chain_id, tx_hash) DO UPDATE SET version = excluded.version WHERE kept.version < excluded.version
RETURNING txid_current()::text AS xact`,
  )
}

/** Reads the version of a payment. */
export function readStatement(table: string): Statement {
  return statement(
    `SELECT version::text AS version FROM ${quoteTable(table)} WHERE integration_address = `,
    ' AND chain_id = ',
    ' AND tx_hash = ',
    '',
  )
}

/** Reads a page of the payments of an integration, after a chain and hash. The columns' names are words that no plugin of a driver turns around. */
export function pageStatement(table: string): Statement {
  return statement(
    `SELECT chain_id AS chain, tx_hash AS hash FROM ${quoteTable(table)} WHERE integration_address = `,
    '::text AND (chain_id, tx_hash) > (',
    '::text, ',
    `::text) ORDER BY chain_id, tx_hash LIMIT ${pageSize}`,
  )
}

/** Fails in any transaction but that of this number, and in one that cannot be kept. */
export function sealSql(xact: string): string {
  return `SELECT 1 / coalesce(txid_current_if_assigned() = ${BigInt(xact)}, false)::int`
}

/** A statement without values. */
export function plain(text: string): Statement {
  return { ...statement(text), name: undefined }
}

function settings({ statementMs, idleMs }: Limits): string {
  const set = (name: string, ms: number) => `, set_config('${name}', '${ms}', true)`
  return set('statement_timeout', statementMs) + set('idle_in_transaction_session_timeout', idleMs)
}

function statement(...pieces: string[]): Statement {
  const text = pieces.reduce((before, piece, index) => `${before}$${index}${piece}`)
  return { pieces: Object.assign(pieces, { raw: pieces }), text, name: `payment_version_${digest(text)}` }
}

/** FNV-1a: short, and another one for another table or other limits. */
function digest(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
