export type { BusyOptions } from '../busy-options.js'
export type {
  DrizzleDatabase,
  DrizzleSql,
  KyselyDatabase,
  Method,
  PgClient,
  PgPool,
  PostgresDatabase,
  PostgresJs,
  PostgresTransaction,
} from '../postgres-database.js'
export {
  type PostgresVersionStore,
  type PostgresVersionStoreOptions,
  postgresDefaults,
  postgresVersionStore,
  postgresVersionTable,
} from '../postgres-version-store.js'
