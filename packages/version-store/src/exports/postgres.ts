export type {
  DrizzleDatabase,
  DrizzleSql,
  KyselyDatabase,
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
