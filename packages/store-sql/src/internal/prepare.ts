/** Builds the text of a query once and runs it with other values. @module */
import type { Compilable } from 'kysely'
import type { Engine, NamedQuery } from '../engine.js'
import { statementName } from './prepared-query.js'
import { rowView } from './row-view.js'

/** Placeholder of a value in the query. */
class Slot<Values> {
  readonly name: keyof Values
  constructor(name: keyof Values) {
    this.name = name
  }
}

/** Names a value that each run passes as a parameter. */
export type ValueOf<Values> = <Name extends keyof Values>(name: Name) => Values[Name]

/**
 * Builds the text of a query at its first run.
 * @param build - Builds the query; `value` names a value of each run. It must not read the placeholder.
 * @param keepPlan - False if the right plan depends on the values.
 */
export function prepare<Values extends object, Row>(
  { rows }: Pick<Engine, 'rows'>,
  build: (value: ValueOf<Values>) => Compilable<Row>,
  keepPlan = true,
): (values: Values) => Promise<Row[]> {
  let text: NamedQuery | undefined
  let view: ((values: readonly unknown[]) => object) | undefined
  return async (values) => {
    text ??= named(build((name) => new Slot<Values>(name) as never).compile(), keepPlan)
    const { sql, parameters, name } = text
    const given = parameters.map((one) => (one instanceof Slot ? values[(one as Slot<Values>).name] : one))
    const { columns, values: found } = await rows({ sql, parameters: given, name })
    if (found.length === 0) return []
    view ??= rowView(columns)
    return found.map(view) as Row[]
  }
}

function named({ sql, parameters }: NamedQuery, keepPlan: boolean): NamedQuery {
  const name = keepPlan ? statementName(sql).name : undefined
  return { sql, parameters, name }
}
