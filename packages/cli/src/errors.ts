/** Errors of the command, and how any error is shown. @module */
import { inspect } from 'node:util'
import type { ExitCode } from './io.js'

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

/** Codes that mean the arguments were wrong, not the world. */
const misuse: ReadonlySet<unknown> = new Set([
  'ERR_USAGE',
  'ERR_ADDRESS_INVALID',
  'ERR_URL_INVALID',
  'ERR_ACCOUNT_INVALID',
])

/** Names of the classes that Node throws its own `ERR_` codes with. */
const plainNames: ReadonlySet<unknown> = new Set([
  ...['Error', 'TypeError', 'RangeError', 'SyntaxError', 'URIError', 'AggregateError'],
  ...['SystemError', 'AssertionError'],
])

interface Described {
  readonly lines: readonly string[]
  readonly exitCode: ExitCode
}

/**
 * Lines for standard error and the exit code.
 * An error of this project, which has a class of its own and an `ERR_` code, was written for people and is shown by its message; a
 * configuration error lists every problem; anything else is named as unexpected, also what Node itself gives an `ERR_` code.
 * @param debug - Adds the stack and the causes.
 */
export function describeError(error: unknown, debug: boolean): Described {
  const exitCode: ExitCode = misuse.has(fieldOf(error, 'code')) ? 2 : 1
  const lines = sentences(error)
  return { exitCode, lines: debug ? [...lines, inspect(error)] : lines }
}

function sentences(error: unknown): string[] {
  const problems = fieldOf(error, 'problems')
  if (Array.isArray(problems)) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    return [`The configuration has ${count}:`, ...problems.map((problem) => `  - ${String(problem)}`)]
  }
  const message = error instanceof Error ? error.message : String(error)
  if (fieldOf(error, 'code') === 'ERR_URL_INVALID' && message.includes('for development only'))
    return [message, 'For development set PI_ENV=development, here and where the server runs.']
  if (isOurs(error)) return [message]
  return [`Unexpected error: ${message}`, 'Run the command again with --debug to see where it comes from.']
}

function isOurs(error: unknown): boolean {
  const code = fieldOf(error, 'code')
  return typeof code === 'string' && code.startsWith('ERR_') && !plainNames.has(fieldOf(error, 'name'))
}

function fieldOf(error: unknown, name: 'code' | 'name' | 'problems'): unknown {
  return typeof error === 'object' && error !== null && name in error ? (error as Record<string, unknown>)[name] : null
}
