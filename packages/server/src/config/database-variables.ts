/** Reads the variables of the database. @module */
import { parseUrl } from '@payment-integration/contract'
import { findDatabaseUrlProblem } from '@payment-integration/contract/parse'
import { type Config, ConfigError, type DatabaseConfig, type PostgresConfig } from './config.js'
import { type Environment, type ReadFile, readVariables, show, type Variables } from './variables.js'

/** Names of the variables that only PostgreSQL has. */
const postgresVariables = [
  'PI_DATABASE_PREPARED',
  'PI_DATABASE_DIRECT_URL',
  'PI_DATABASE_READ_URL',
  'PI_DATABASE_READ_MAX_LAG_MS',
  'PI_DATABASE_POOL',
  'PI_DATABASE_STATEMENT_TIMEOUT_MS',
  'PI_DATABASE_LOCK_TIMEOUT_MS',
  'PI_DATABASE_CA_FILE',
  'PI_DATABASE_ENGINE',
] as const

/** Names of these variables. */
export const databaseVariables = ['PI_DATABASE_URL', 'PI_MIGRATE', ...postgresVariables] as const

/** Bound of a standby's lag, unless another is set. */
const defaultMaxLagMs = 1_000

/**
 * Reads the `PI_DATABASE_…` variables: all that a migration needs.
 * @throws ConfigError `ERR_CONFIG` when they describe no database.
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

/** Reads `PI_DATABASE_URL`, and on PostgreSQL the variables of its connections. */
export function readDatabase(variables: Variables): DatabaseConfig {
  const { text, problems } = variables
  const value = text('PI_DATABASE_URL') ?? 'sqlite:payment-integration.db'
  if (!value.startsWith('sqlite:')) return readPostgres(value, variables)
  for (const name of postgresVariables)
    if (text(name) !== undefined) problems.push(`${name} is set; it is only used with PostgreSQL.`)
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

function readPostgres(connectionString: string, variables: Variables): PostgresConfig {
  const { text } = variables
  const ca = readAuthority(variables)
  const address = (name: string, value: string) => checkAddress(name, value, ca !== undefined, variables)
  address('PI_DATABASE_URL', connectionString)
  const direct = text('PI_DATABASE_DIRECT_URL')
  if (direct !== undefined) address('PI_DATABASE_DIRECT_URL', direct)
  const isPrepared = variables.choice('PI_DATABASE_PREPARED', ['session', 'off'], 'session') === 'session'
  const optional = (name: (typeof postgresVariables)[number], min: number, max: number, unit: string) =>
    text(name) === undefined ? undefined : variables.integer(name, { min, max, unit }, min)
  const reader = readReader(variables, address)
  return {
    kind: 'postgres',
    connectionString,
    preparedStatements: isPrepared ? undefined : false,
    directConnectionString: direct,
    reader,
    maxConnections: optional('PI_DATABASE_POOL', 1, 1_000, 'a number of connections'),
    statementTimeoutMs: optional('PI_DATABASE_STATEMENT_TIMEOUT_MS', 100, 3_600_000, 'milliseconds'),
    lockTimeoutMs: optional('PI_DATABASE_LOCK_TIMEOUT_MS', 100, 3_600_000, 'milliseconds'),
    ca,
    acceptedEngine: readEngine(variables),
  }
}

function readReader(
  variables: Variables,
  address: (name: string, value: string) => void,
): PostgresConfig['reader'] | undefined {
  const { text, problems } = variables
  const connectionString = text('PI_DATABASE_READ_URL')
  if (connectionString === undefined) {
    if (text('PI_DATABASE_READ_MAX_LAG_MS') !== undefined)
      problems.push('PI_DATABASE_READ_MAX_LAG_MS is set; it is only used with PI_DATABASE_READ_URL.')
    return undefined
  }
  address('PI_DATABASE_READ_URL', connectionString)
  const range = { min: 10, max: 3_600_000, unit: 'milliseconds' } as const
  return { connectionString, maxLagMs: variables.integer('PI_DATABASE_READ_MAX_LAG_MS', range, defaultMaxLagMs) }
}

// The value may hold a password, so a message names only its scheme.
function checkAddress(name: string, value: string, hasAuthority: boolean, { problems }: Variables): void {
  const problem = findDatabaseUrlProblem(value)
  if (problem !== null) problems.push(`${name} ${problem}`)
  else if (!/^postgres(ql)?:\/\/./.test(value) || parseUrl(value) === null) {
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(value)?.[0] ?? 'no scheme'
    const file = name === 'PI_DATABASE_URL' ? 'sqlite:<path> or ' : ''
    problems.push(`${name} has ${scheme}; expected ${file}postgres://<user>@<host>/<database>.`)
  } else if (hasAuthority && /[?&]ssl[a-z]{0,20}=/i.test(value))
    problems.push(`${name} has a parameter such as sslmode, which PI_DATABASE_CA_FILE replaces; remove it.`)
}

function readAuthority(variables: Variables): string | undefined {
  const ca = variables.file('PI_DATABASE_CA_FILE', 'certificates as PEM text')
  if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----'))
    variables.problems.push('PI_DATABASE_CA_FILE names a file without a certificate; expected PEM text.')
  return ca
}

function readEngine({ text, problems }: Variables): string | undefined {
  const name = text('PI_DATABASE_ENGINE')
  if (name !== undefined && !/^[a-z][a-z0-9]{0,31}$/.test(name))
    problems.push(`PI_DATABASE_ENGINE is ${show(name)}; expected the name that ERR_STORE_ENGINE reports.`)
  return name
}
