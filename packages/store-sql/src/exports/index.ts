export {
  createPostgresStore,
  type PostgresStoreOptions,
  postgresStoreDefaults,
} from '../postgres/create-postgres-store.js'
export { type JoinOptions, joinPostgresTransaction } from '../postgres/join-transaction.js'
export { createSqliteStore, type SqliteStoreOptions, sqliteStoreDefaults } from '../sqlite/create-sqlite-store.js'
