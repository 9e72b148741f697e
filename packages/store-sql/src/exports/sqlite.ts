export { createSqliteStore, type SqliteStoreOptions, sqliteStoreDefaults } from '../sqlite/create-sqlite-store.js'
