export type { SqliteDatabase } from '../sqlite-database.js'
export { createSqliteVersionStore, type SqliteVersionStoreOptions } from '../sqlite-version-store.js'
