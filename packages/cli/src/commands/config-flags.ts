/** Flags that stand for variables of the server's configuration. @module */
import { UsageError } from '../errors.js'
import type { Io } from '../io.js'

/** Flags beat the environment, which beats the defaults. No flag takes a secret: other users can see arguments. */
export interface ConfigFlags {
  /** Instead of `PI_DATABASE_URL` and `PI_DATABASE_URL_FILE`. Without a password. */
  readonly database?: string | undefined
  /** Instead of `PI_HOST`. */
  readonly host?: string | undefined
  /** Instead of `PI_PORT`. */
  readonly port?: number | undefined
  /** Instead of `PI_ACTOR`. */
  readonly actor?: string | undefined
}

/**
 * The environment with the flags laid over it.
 * @throws UsageError `ERR_USAGE` when the database URL holds a password.
 */
export function withFlags(
  env: Io['env'],
  { database, host, port, actor }: ConfigFlags,
): Record<string, string | undefined> {
  if (database !== undefined && holdsPassword(database))
    throw new UsageError(
      '--database holds a password, and other users of this machine can see arguments; set PI_DATABASE_URL instead, or PI_DATABASE_URL_FILE to the path of a file that holds the URL. Change the password if others use this machine.',
    )
  return {
    ...env,
    ...(database === undefined ? {} : { PI_DATABASE_URL: database, PI_DATABASE_URL_FILE: undefined }),
    ...(host === undefined ? {} : { PI_HOST: host }),
    ...(port === undefined ? {} : { PI_PORT: String(port) }),
    ...(actor === undefined ? {} : { PI_ACTOR: actor }),
  }
}

/** Looks where a driver of Postgres would: before the host, and among the parameters. */
function holdsPassword(database: string): boolean {
  if (database.startsWith('sqlite:')) return false
  // A password with a slash or a hash in it makes the URL unreadable, and is one all the same.
  if (!URL.canParse(database)) return /^[^/]*[/]{2}([^@]*)@/.exec(database)?.[1]?.includes(':') === true
  const { password, searchParams } = new URL(database)
  return password !== '' || searchParams.has('password')
}
