/** The table of versions in PostgreSQL. Source: docs/interface.md 6, receiver obligations. @module */

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

/** Longest time for a transaction of the store, in milliseconds, besides the wait for its lock. */
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
 * Stores the version if it is greater, and returns the transaction's number; otherwise no row.
 * It waits for other transactions of this payment, in the database's order, and then compares with their version.
 * With limits it sets them first, for its transaction alone. They are in the same statement, because another one costs
 * a round trip. Values: with limits, the milliseconds of the lock wait first; then the payment and the version.
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

/** Reads a page of an integration's payments, after a chain and hash. No driver plugin renames its columns. */
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
