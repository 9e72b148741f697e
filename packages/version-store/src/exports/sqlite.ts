export type { SqliteDatabase, SqliteVersionStoreOptions } from '../sqlite-version-store.js'
export { createSqliteVersionStore } from '../sqlite-version-store.js'
