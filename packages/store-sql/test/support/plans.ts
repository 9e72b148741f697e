/** Reads query plans, estimated and executed. @module */
import { CompiledQuery } from 'kysely'
import type { Engine } from '../../src/engine.js'

/** A query that can be compiled to text. */
export interface Compiled {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] }
}

async function explain<Row>({ read }: Engine, prefix: string, query: Compiled): Promise<Row[]> {
  const { sql, parameters } = query.compile()
  return (await read.executeQuery<Row>(CompiledQuery.raw(`${prefix} ${sql}`, [...parameters]))).rows
}

/** The steps of SQLite's plan. */
export async function sqlitePlan(engine: Engine, query: Compiled) {
  // `explain` reads no page of the file, so it would not see indexes that another connection made since the last read.
  await engine.read.executeQuery(CompiledQuery.raw('select 1 from sqlite_schema limit 1'))
  return explain<{ id: number; parent: number; detail: string }>(engine, 'explain query plan', query)
}

/** What each step of SQLite's plan does. */
export const sqliteSteps = async (engine: Engine, query: Compiled): Promise<string[]> =>
  (await sqlitePlan(engine, query)).map(({ detail }) => detail)

/** A node of a plan of PostgreSQL. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Plan Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/** How PostgreSQL read a table, and how many rows it touched for that, those it discarded included. */
export interface Scan {
  readonly type: string
  readonly table: string
  /** Null where it used none. */
  readonly index: string | null
  readonly touched: number
  /** Rows that the planner expects. */
  readonly estimated: number
}

/** A node and all nodes below it. */
export const getNodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(getNodes)]

type Analyzed = { 'QUERY PLAN': [{ Plan: PlanNode }] }

function getLiteral(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return value instanceof Uint8Array ? `'\\x${Buffer.from(value).toString('hex')}'` : `'${String(value)}'`
}

/** The plan that PostgreSQL keeps for a named statement, made without its values, and run with them. */
async function explainGeneric(engine: Engine, query: Compiled): Promise<Analyzed[]> {
  const { sql, parameters } = query.compile()
  const literals = parameters.map(getLiteral)
  const given = literals.length === 0 ? '' : `(${literals.join(', ')})`
  return engine.transaction(async (db) => {
    const run = <Row>(text: string) => db.executeQuery<Row>(CompiledQuery.raw(text))
    await run('set local plan_cache_mode = force_generic_plan')
    await run(`prepare kept as ${sql}`)
    const { rows } = await run<Analyzed>(`explain (analyze, format json) execute kept${given}`)
    await run('deallocate kept')
    return rows
  })
}

/** Runs a query on PostgreSQL and returns every scan of a table in its plan. */
export async function postgresScans(
  engine: Engine,
  query: Compiled,
  plans: 'custom' | 'generic' = 'custom',
): Promise<Scan[]> {
  const [answer] =
    plans === 'custom'
      ? await explain<Analyzed>(engine, 'explain (analyze, format json)', query)
      : await explainGeneric(engine, query)
  return (answer === undefined ? [] : getNodes(answer['QUERY PLAN'][0].Plan)).flatMap((node): Scan[] => {
    const { 'Relation Name': relation, 'Actual Loops': loops } = node
    if (relation === undefined) return []
    const table = relation.replace(/_\d+$/, '') // Of a partition, the table in segments.
    const discarded = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
    // A bitmap comes from the node below.
    const index = node['Index Name'] ?? node.Plans?.[0]?.['Index Name'] ?? null
    const touched = (node['Actual Rows'] + discarded) * loops
    return [{ type: node['Node Type'], table, index, touched, estimated: node['Plan Rows'] }]
  })
}

/** Runs a query on PostgreSQL as a prepared statement, and counts the last runs that used the generic plan. */
export async function runsWithPreparedPlan(engine: Engine, query: Compiled, runs: number): Promise<number> {
  const { sql, parameters } = query.compile()
  const literals = parameters.map(getLiteral)
  return engine.transaction(async (db) => {
    const run = <Row>(text: string) => db.executeQuery<Row>(CompiledQuery.raw(text))
    await run(`prepare kept as ${sql}`)
    // PostgreSQL plans the first five runs with their values at any cost.
    for (let nth = 0; nth < 5 + runs; nth += 1) await run(`execute kept(${literals.join(', ')})`)
    const count = `select generic_plans from pg_prepared_statements where name = 'kept'`
    const { rows } = await run<{ generic_plans: string }>(count)
    await run('deallocate kept')
    return Number(rows[0]?.generic_plans)
  })
}
