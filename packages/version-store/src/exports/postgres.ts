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
  createPostgresVersionStore,
  type PostgresVersionStore,
  type PostgresVersionStoreOptions,
  postgresDefaults,
  postgresVersionTable,
} from '../postgres-version-store.js'
