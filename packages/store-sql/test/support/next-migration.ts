/** A made-up migration after the released ones, for tests of the machinery. @module */
import { releasedMigrations } from '../../src/migrate.js'
import type { Migration } from '../../src/schema/migration.js'

/** Adds a table, then a column with a default. */
export const nextMigration: Migration = ({ integer }, name) => [
  `create table ${name('made_up')} (a ${integer} not null)`,
  `alter table ${name('leases')} add column made_up ${integer} not null default 7`,
]

/** The released migrations and the made-up one. */
export const migrationsWithNext: readonly Migration[] = [...releasedMigrations, nextMigration]
