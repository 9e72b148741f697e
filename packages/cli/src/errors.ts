/** Errors that the command makes itself. @module */

/** The command was called in a way that cannot work. Exit code 2; the message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'ERR_USAGE'
}

/** The demo could not go on. Exit code 1; the message says what happened and what to do. */
export class DemoError extends Error {
  override readonly name = 'DemoError'
  readonly code = 'ERR_DEMO'
}
