/** Reads whose text is made once and then run with other values. @module */
import type { Compilable } from 'kysely'
import type { Engine, NamedQuery } from '../engine.js'
import { statementName } from './prepared-query.js'
import { rowView } from './row-view.js'

/** Stands for a value in the query that the text is made from. */
class Slot<Values> {
  readonly name: keyof Values
  constructor(name: keyof Values) {
    this.name = name
  }
}

/** Names a value of each run, where the query has it as a parameter. */
export type ValueOf<Values> = <Name extends keyof Values>(name: Name) => Values[Name]

/**
 * Makes the text of a query when it is first run.
 * @param build - The query; `value` names what every run gives. It must not look at what it got.
 * @param keepPlan - False where the right plan depends on the values.
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
