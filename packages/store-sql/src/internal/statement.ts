/** Statements that are written by hand. @module */
import { CompiledQuery } from 'kysely'
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
 * The same for a statement of a transaction that `searches`: its connection may keep the plan, made without the values.
 * For few texts that run again and again, whose right plan is by index whatever they are given.
 */
export async function runPrepared<Row>(db: Connection, dialect: SqlDialect, write: StatementText): Promise<Row[]> {
  const { sql, parameters } = compile(dialect, write)
  return (await db.executeQuery<Row>(new PreparedQuery(sql, parameters))).rows
}

/** The same, but goes on before the answer where the connection can; see {@link SentQuery}. */
export async function sendPrepared<Row>(
  db: Connection,
  dialect: SqlDialect,
  write: StatementText,
): Promise<SentResult<Row>> {
  const { sql, parameters } = compile(dialect, write)
  return db.executeQuery<Row>(new SentQuery(new PreparedQuery(sql, parameters)))
}
