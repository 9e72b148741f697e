export type { BusyOptions } from '../busy-options.js'
export type { SqliteDatabase } from '../sqlite-database.js'
export { type SqliteVersionStoreOptions, sqliteVersionStore } from '../sqlite-version-store.js'
