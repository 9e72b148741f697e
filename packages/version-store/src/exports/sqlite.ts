export {
  createSqliteVersionStore,
  type SqliteDatabase,
  type SqliteVersionStoreOptions,
} from '../sqlite-version-store.js'
