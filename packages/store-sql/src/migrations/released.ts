/** The migrations of all releases. @module */
import { baseline } from '../schema/baseline/baseline.js'
import type { Migration } from '../schema/migration.js'

/** The schema version of the first release. Development schemas were numbered below. */
export const baselineVersion = 100

/** All migrations, in order: the first brings an empty database to version 100, the next to 101, and so on. */
export const releasedMigrations: readonly Migration[] = [
  { expand: [{ kind: 'statements', about: 'create all tables', statements: baseline }], contract: [] },
]

/** The version that a list of migrations leads to. */
export const newestVersion = (migrations: readonly Migration[]): number => baselineVersion + migrations.length - 1
