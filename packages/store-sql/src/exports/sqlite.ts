export { createSqliteStore, type SqliteStoreOptions } from '../sqlite/create-sqlite-store.js'
