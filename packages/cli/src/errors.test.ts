import { describe, expect, it } from 'vitest'
import * as errors from './errors.js'
import { formatCommandError, UsageError } from './errors.js'
import { openSqlite } from './files.js'
import { ConnectionLostError } from './listen/stream.js'

/** The error that a function throws. */
function thrownBy(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}

const advice = 'Run the command again with --debug to see the stack trace.'

describe('formatCommandError', () => {
  it.each(['ERR_USAGE', 'ERR_ADDRESS_INVALID', 'ERR_URL_INVALID', 'ERR_ACCOUNT_INVALID'])(
    'counts %s as misuse',
    (code) => expect(formatCommandError(Object.assign(new Error('no'), { code }), false).exitCode).toBe(2),
  )

  it('lists every problem of a configuration', () => {
    const error = Object.assign(new Error('x'), { code: 'ERR_CONFIG', problems: ['PI_A is missing.', 'PI_B is "x".'] })
    const lines = ['The configuration has 2 problems:', '  - PI_A is missing.', '  - PI_B is "x".']
    expect(formatCommandError(error, false)).toEqual({ lines, exitCode: 1 })
    const [one] = formatCommandError({ problems: ['PI_A is missing.'] }, false).lines
    expect(one).toBe('The configuration has a problem:')
  })

  it.each([
    [new Error('boom'), 'boom'],
    [Object.assign(new Error('no such file'), { code: 'ENOENT' }), 'no such file'],
    ['text', 'text'],
    [null, 'null'],
    [undefined, 'undefined'],
    [42, '42'],
  ])('reports %s as unexpected, with the way to see the stack', (thrown, message) => {
    const lines = [`Unexpected error: ${message}`, advice]
    expect(formatCommandError(thrown, false)).toEqual({ lines, exitCode: 1 })
  })

  it.each([
    ['a module that is missing', Object.assign(new Error('Cannot find package x'), { code: 'ERR_MODULE_NOT_FOUND' })],
    ['SQL that SQLite rejects', thrownBy(() => openSqlite(':memory:').exec('SELEC'))],
    ['an invalid URL', thrownBy(() => new URL('nowhere'))],
    ['a size out of range', thrownBy(() => Buffer.alloc(-1))],
  ])('reports an error of Node as unexpected, although it has an ERR_ code: %s', (_name, error) => {
    expect(error).toHaveProperty('code', expect.stringMatching(/^ERR_/))
    expect(formatCommandError(error, false).lines).toEqual([`Unexpected error: ${error.message}`, advice])
  })

  it('prints the stack and the causes only with debug', () => {
    const error = new UsageError('No.', { cause: new Error('deeper') })
    expect(formatCommandError(error, false).lines.join('\n')).not.toContain('    at ')
    const report = formatCommandError(error, true).lines.join('\n')
    expect(report).toContain('    at ')
    expect(report).toContain('deeper')
  })
})

it('every error of the command has a code of its own, and says whether the same command may succeed later', () => {
  const classes = Object.values({ ...errors, ConnectionLostError }).filter(
    (value) => (value as { readonly prototype?: unknown }).prototype instanceof errors.CliError,
  ) as readonly (new (
    message: string,
    cause: unknown,
  ) => errors.CliError)[]
  const found = classes
    .map((Class) => new Class('why', null))
    .map(({ name, code, retryable }) => [name, code, retryable])
  expect(found.toSorted()).toEqual([
    ['BackupError', 'ERR_BACKUP', false],
    ['ConnectionLostError', 'ERR_CONNECTION_LOST', true],
    ['DatabaseMissingError', 'ERR_DATABASE_MISSING', false],
    ['DemoError', 'ERR_DEMO', false],
    ['InitError', 'ERR_INIT', false],
    ['InterruptedError', 'ERR_INTERRUPTED', true],
    ['MirrorDatabaseError', 'ERR_MIRROR_DATABASE', false],
    ['UnusableServerError', 'ERR_SERVER', false],
    ['UsageError', 'ERR_USAGE', false],
  ])
})
