export type { SqliteDatabase } from '../sqlite-database.js'
export { type SqliteVersionStoreOptions, sqliteVersionStore } from '../sqlite-version-store.js'
