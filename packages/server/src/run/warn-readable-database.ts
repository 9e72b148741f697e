/** Warns at start when other users of the machine may open the database. @module */
import { realpathSync, statSync } from 'node:fs'
import type { Logger } from '@payment-integration/core/ports'
import type { DatabaseConfig } from '../config/config.js'

/**
 * Earlier versions created the file with mode 0644. The mode is not changed here: an operator may have set it for
 * another program.
 */
export function warnReadableDatabase(database: DatabaseConfig, logger: Pick<Logger, 'warn'>): void {
  if (database.kind !== 'sqlite' || process.platform === 'win32') return
  // SQLite creates its log and index beside the target of a symbolic link.
  const path = realpathSync(database.path)
  if ((statSync(path).mode & 0o007) === 0) return
  const files = [path, `${path}-wal`, `${path}-shm`].map((file) => `'${file.replaceAll("'", `'\\''`)}'`)
  logger.warn(
    { database: 'sqlite' },
    `Other users of this machine may open the database. Unless you want that: chmod 600 ${files.join(' ')}`,
  )
}
