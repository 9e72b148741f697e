/** Reads the variables of the database. @module */
import { parseUrl } from '@payment-integration/contract'
import { type Config, ConfigError, type DatabaseConfig } from './config.js'
import { type Environment, type ReadFile, readVariables, show, type Variables } from './variables.js'

/** Names of these variables. */
export const databaseVariables = ['PI_DATABASE_URL', 'PI_MIGRATE'] as const

/**
 * Reads `PI_DATABASE_URL`, or the file that `PI_DATABASE_URL_FILE` names: all that a migration needs.
 * @throws ConfigError `ERR_CONFIG` when it names no database.
 */
export function readDatabaseConfig(env: Environment, readFile?: ReadFile): DatabaseConfig {
  const variables = readVariables(env, readFile)
  const database = readDatabase(variables)
  if (variables.problems.length > 0) throw new ConfigError(variables.problems)
  return database
}

/** Reads `PI_MIGRATE`. Processes of several releases may share a server; a file belongs to one machine. */
export function readMigrates(variables: Variables, { kind }: DatabaseConfig): Config['migrates'] {
  return variables.choice('PI_MIGRATE', ['on', 'off'], kind === 'sqlite' ? 'on' : 'off') === 'on'
}

/** Reads `PI_DATABASE_URL`. */
export function readDatabase({ text, problems }: Variables): DatabaseConfig {
  const value = text('PI_DATABASE_URL') ?? 'sqlite:payment-integration.db'
  if (value.startsWith('sqlite:')) {
    const path = value.slice('sqlite:'.length)
    if (path.trim() === '' || path === ':memory:' || /^file:/i.test(path))
      problems.push(`PI_DATABASE_URL is ${show(value)}, which names no file on a disk; expected sqlite:<path>.`)
    // A typing mistake, or a special SQLite name with options: neither names a database file.
    else if (path.trimStart().startsWith(':'))
      problems.push(
        `PI_DATABASE_URL is ${show(value)}, whose path begins with a colon; expected sqlite:<path> with one colon, such as sqlite:payments.db.`,
      )
    return { kind: 'sqlite', path }
  }
  // The value may hold a password, so the message names only its scheme.
  if (!/^postgres(ql)?:\/\/./.test(value) || parseUrl(value) === null) {
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(value)?.[0] ?? 'no scheme'
    problems.push(`PI_DATABASE_URL has ${scheme}; expected sqlite:<path> or postgres://<user>@<host>/<database>.`)
  }
  return { kind: 'postgres', connectionString: value }
}
