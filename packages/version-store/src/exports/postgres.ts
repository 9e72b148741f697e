export type { PgClient, PgPool, PostgresDatabase, PostgresTransaction } from '../postgres-database.js'
export type { PostgresVersionStore, PostgresVersionStoreOptions } from '../postgres-version-store.js'
export { createPostgresVersionStore, postgresVersionTable } from '../postgres-version-store.js'
