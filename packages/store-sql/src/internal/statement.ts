/** Runs handwritten statements. @module */
import { CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { Connection, Parameter, SqlDialect } from '../engine.js'
import { PreparedQuery } from './prepared-query.js'
import { SentQuery, type SentResult } from './sent-query.js'

/** Writes a statement's text. */
export type StatementText = (parameter: Parameter) => string

/** The text with its parameters. A query builder costs more than a small statement itself. */
export function compile<Row>({ placeholder }: Pick<SqlDialect, 'placeholder'>, write: StatementText) {
  const parameters: unknown[] = []
  const text = write((value) => placeholder(parameters.push(value)))
  return CompiledQuery.raw(text, parameters) as CompiledQuery<Row>
}

/** Runs a statement and returns its rows. */
export async function run<Row>(db: Connection, dialect: SqlDialect, write: StatementText): Promise<Row[]> {
  return (await db.executeQuery<Row>(compile<Row>(dialect, write))).rows
}

/**
 * Runs a prepared statement in a transaction that `searches`. Its plan is made without the values. Use it for few
 * frequent texts whose right plan is by index for any values.
 */
export async function runPrepared<Row>(db: Connection, dialect: SqlDialect, write: StatementText): Promise<Row[]> {
  const { sql, parameters } = compile(dialect, write)
  return (await db.executeQuery<Row>(new PreparedQuery(sql, parameters))).rows
}

/** Runs a statement, but returns before the answer if the connection supports it; see {@link SentQuery}. */
export async function sendPrepared<Row>(
  db: Connection,
  dialect: SqlDialect,
  write: StatementText,
): Promise<SentResult<Row>> {
  const { sql, parameters } = compile(dialect, write)
  return db.executeQuery<Row>(new SentQuery(new PreparedQuery(sql, parameters)))
}

/** A part of a built statement, from text. A value may be used several times. */
export function fragment<T>(write: StatementText): RawBuilder<T> {
  const values: unknown[] = []
  const pieces = write((value) => `\u0000${values.push(value) - 1}\u0000`).split('\u0000')
  // Every second piece is the number of a value.
  const parts = pieces.map((piece, index) => (index % 2 === 0 ? sql.raw(piece) : sql`${values[Number(piece)]}`))
  return sql<T>`${sql.join(parts, sql``)}`
}
