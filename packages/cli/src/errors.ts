/** Errors that the command makes itself. @module */

/** The command was called in a way that cannot work. Exit code 2; the message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'ERR_USAGE'
}

/** The command was asked to end before it had what it needs; nothing was changed. Exit code 1. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  readonly code = 'ERR_INTERRUPTED'
}

/** The demo could not go on. Exit code 1; the message says what happened and what to do. */
export class DemoError extends Error {
  override readonly name = 'DemoError'
  readonly code = 'ERR_DEMO'
}

/** The SQLite file that the configuration names is not there, and the command makes none. Exit code 1. */
export class DatabaseMissingError extends Error {
  override readonly name = 'DatabaseMissingError'
  readonly code = 'ERR_DATABASE_MISSING'
  constructor(path: string) {
    super(
      `There is no database at ${path}. Name the right one with PI_DATABASE_URL or --database; the create commands and serve make a new one.`,
    )
  }
}

/** No payment integration server answers where one was asked. Exit code 1. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  readonly code = 'ERR_SERVER'
}
