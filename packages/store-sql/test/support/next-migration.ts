/** A made-up migration after the released ones, for tests of the machinery. @module */
import { releasedMigrations } from '../../src/migrations/migrate.js'
import type { Migration } from '../../src/schema/migration.js'

/** Adds a table and columns; fills and indexes a column; later fills it again, and removes another column. */
export const nextMigration: Migration = {
  expand: [
    {
      kind: 'statements',
      about: 'add a table and three columns',
      statements: ({ integer }, name) => [
        `create table ${name('made_up')} (a ${integer} not null)`,
        `alter table ${name('leases')} add column made_up ${integer} not null default 7`,
        `alter table ${name('payments')} add column made_up ${integer}`,
        `alter table ${name('integrations')} add column made_up ${integer}`,
      ],
    },
    { kind: 'backfill', about: 'fill the column of payments', table: 'payments', set: 'made_up = id + 7' },
    {
      kind: 'index',
      about: 'index it',
      index: { name: 'payments_made_up', table: 'payments', columns: '(made_up) where made_up is not null' },
    },
  ],
  contract: [
    {
      kind: 'backfill',
      about: 'fill what the last release wrote',
      table: 'payments',
      set: 'made_up = id + 7',
      where: 'made_up is null',
    },
    {
      kind: 'statements',
      about: 'remove the column of leases',
      statements: (_, name) => [`alter table ${name('leases')} drop column made_up`],
    },
  ],
}

/** The released migrations and the made-up one. */
export const migrationsWithNext: readonly Migration[] = [...releasedMigrations, nextMigration]
