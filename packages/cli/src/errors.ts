/** Errors of the command, and the lines that describe any error. @module */
import { inspect } from 'node:util'
import type { ExitCode } from './io.js'

/** Every code of the command itself; errors of other packages keep their codes. `docs/errors.md` has the meanings. */
export type CliErrorCode =
  | 'ERR_BACKUP'
  | 'ERR_CONNECTION_LOST'
  | 'ERR_DATABASE_MISSING'
  | 'ERR_DEMO'
  | 'ERR_INIT'
  | 'ERR_INTERRUPTED'
  | 'ERR_MIRROR_DATABASE'
  | 'ERR_SERVER'
  | 'ERR_USAGE'

/** Base of the errors of the command. `retryable`: the command was cut off, and may be run again. */
export abstract class CliError extends Error {
  abstract readonly code: CliErrorCode
  readonly retryable: boolean = false
}

/** The arguments are wrong. Exit code 2; the message names the change to make. */
export class UsageError extends CliError {
  override readonly name = 'UsageError'
  readonly code = 'ERR_USAGE'
}

/** A signal ended the command early; the message names the finished part. Exit code 1. */
export class InterruptedError extends CliError {
  override readonly name = 'InterruptedError'
  readonly code = 'ERR_INTERRUPTED'
  override readonly retryable = true
}

/** Once the signal has aborted: an InterruptedError with `error` as its cause; else `error` itself. */
export function asInterrupted(error: unknown, signal: AbortSignal, message: string): unknown {
  return signal.aborted ? new InterruptedError(message, { cause: error }) : error
}

/** The demo cannot continue. Exit code 1; the message gives the cause and the remedy. */
export class DemoError extends CliError {
  override readonly name = 'DemoError'
  readonly code = 'ERR_DEMO'
}

/** `init` does not support the project. Exit code 1; the message names the change to make. */
export class InitError extends CliError {
  override readonly name = 'InitError'
  readonly code = 'ERR_INIT'
}

/** The configured SQLite file does not exist, and the command may not create it. Exit code 1. */
export class DatabaseMissingError extends CliError {
  override readonly name = 'DatabaseMissingError'
  readonly code = 'ERR_DATABASE_MISSING'
  constructor(path: string) {
    super(
      `There is no database at ${path}. Set PI_DATABASE_URL or --database to the right one; only the create commands and serve create a database.`,
    )
  }
}

/** A copy of the database could not be written, and no part of it stays. Exit code 1. */
export class BackupError extends CliError {
  override readonly name = 'BackupError'
  readonly code = 'ERR_BACKUP'
  constructor(file: string, cause: unknown) {
    super(`The backup ${file} could not be written: ${getMessage(cause)}. No part of it stays.`, { cause })
  }
}

/** The database of a mirror cannot be opened or used. Exit code 1. */
export class MirrorDatabaseError extends CliError {
  override readonly name = 'MirrorDatabaseError'
  readonly code = 'ERR_MIRROR_DATABASE'
  constructor(cause: unknown) {
    const { code, message } = Object(cause) as { code?: unknown; message?: unknown }
    super(`The database of the mirror cannot be used: ${String(message || code)}. Check --to or MIRROR_URL.`, { cause })
  }
}

/** The server does not answer, rejects the credentials, or is of another kind or version. Exit code 1. */
export class UnusableServerError extends CliError {
  override readonly name = 'UnusableServerError'
  readonly code = 'ERR_SERVER'
}

/** Codes of errors that the arguments caused: exit code 2. */
const misuse: ReadonlySet<unknown> = new Set([
  'ERR_USAGE',
  'ERR_ADDRESS_INVALID',
  'ERR_URL_INVALID',
  'ERR_NAME_INVALID',
  'ERR_ACCOUNT_INVALID',
  'ERR_OPERATOR_INVALID',
  'ERR_REQUEST_UNREADABLE',
])

/** Names of Node's own error classes, which use `ERR_` codes too. */
const nodeErrorNames: ReadonlySet<unknown> = new Set(
  ['', 'Type', 'Range', 'Syntax', 'URI', 'Aggregate', 'System', 'Assertion'].map((kind) => `${kind}Error`),
)

/**
 * Describes an error as lines for standard error, with the exit code.
 * An error class of this project has an `ERR_` code and a message for people; that message is the line.
 * A configuration error lists every problem. Any other error is unexpected, even an error of Node with an `ERR_` code.
 * @param debug - Adds the stack and the causes.
 */
export function formatCommandError(error: unknown, debug: boolean) {
  const exitCode: ExitCode = misuse.has(getField(error, 'code')) ? 2 : 1
  const lines = describeError(error)
  return { exitCode, lines: debug ? [...lines, ...inspect(error).split('\n')] : lines }
}

function describeError(error: unknown): string[] {
  const problems = getField(error, 'problems')
  if (Array.isArray(problems)) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    return [`The configuration has ${count}:`, ...problems.map((problem) => `  - ${String(problem)}`)]
  }
  const message = getMessage(error)
  if (getField(error, 'code') === 'ERR_URL_INVALID' && message.includes('for development only'))
    return [message, 'For development set PI_ENV=development, here and where the server runs.']
  if (isOurs(error)) return [message]
  return [`Unexpected error: ${message}`, 'Run the command again with --debug to see the stack trace.']
}

export function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function isOurs(error: unknown): boolean {
  const code = getField(error, 'code')
  return typeof code === 'string' && code.startsWith('ERR_') && !nodeErrorNames.has(getField(error, 'name'))
}

function getField(error: unknown, name: 'code' | 'name' | 'problems'): unknown {
  return typeof error === 'object' && error !== null && name in error ? (error as Record<string, unknown>)[name] : null
}
