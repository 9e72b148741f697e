/** Turns anything thrown into the sentences a person reads. No stack unless asked for. @module */
import { inspect } from 'node:util'
import type { ExitCode } from './io.js'

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
