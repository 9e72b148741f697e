export type { PgClient, PgPool, PostgresDatabase, PostgresTransaction } from '../postgres-database.js'
export {
  createPostgresVersionStore,
  type PostgresVersionStore,
  type PostgresVersionStoreOptions,
  postgresVersionTable,
} from '../postgres-version-store.js'
