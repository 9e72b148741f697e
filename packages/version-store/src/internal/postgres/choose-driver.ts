/** Tells the drivers apart by their shape. @module */
import type { DrizzleSql } from '../../postgres-database.js'
import type { PostgresDriver } from './driver.js'
import { drizzleDriver } from './drizzle.js'
import { kyselyDriver } from './kysely.js'
import { pgClientDriver, pgPoolDriver } from './pg.js'
import { postgresJsDriver } from './postgres-js.js'

/** @throws {TypeError} When the database has the shape of no driver, or `sql` is missing for Drizzle. */
export function chooseDriver(database: unknown, sql: DrizzleSql | undefined, prepare: boolean): PostgresDriver<object> {
  const given = (database ?? {}) as Readonly<Record<string, unknown>>
  const has = (...names: string[]) => names.every((name) => typeof given[name] === 'function')
  const as = <Driver>(make: (given: never) => Driver) => make(given as never) as unknown as PostgresDriver<object>

  if (has('begin', 'unsafe')) return as(postgresJsDriver)
  if (has('executeQuery', 'transaction')) return as(kyselyDriver)
  if (has('execute', 'transaction')) {
    if (typeof sql !== 'function')
      throw new TypeError('sql is missing; pass the sql of drizzle-orm beside the database.')
    return as((db: never) => drizzleDriver(db, sql))
  }
  if (has('connect', 'query')) {
    const make = typeof given['totalCount'] === 'number' ? pgPoolDriver : pgClientDriver
    return as((pg: never) => make(pg, prepare))
  }
  throw new TypeError('database is none of: a Pool or Client of pg, postgres(), a Kysely, a drizzle(); pass one.')
}
