export {
  createPostgresStore,
  type PostgresStoreOptions,
  postgresStoreDefaults,
} from '../postgres/create-postgres-store.js'
export { createSqliteStore, type SqliteStoreOptions, sqliteStoreDefaults } from '../sqlite/create-sqlite-store.js'
