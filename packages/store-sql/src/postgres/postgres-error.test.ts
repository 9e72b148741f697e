import { expect, test } from 'vitest'
import { convertPostgresError, createConnectError, isConflict, isConnectionLost } from './postgres-error.js'

const withCode = (code: string) => Object.assign(new Error(`error ${code}`), { code })

test.each([
  ['ERR_STORE_BUSY', ['53300', '55P03', '57014']],
  ['ERR_STORE_FULL', ['53100']],
  [
    'ERR_STORE_UNAVAILABLE',
    [
      ...['57P01', '57P02', '57P03', '08006', '25006', '25P03', '25P04', '28P01', '3D000'],
      ...['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN'],
    ],
  ],
])('%s is the error of %j, which is its cause', (expected, codes) => {
  for (const error of codes.map(withCode))
    expect(convertPostgresError(error)).toMatchObject({ code: expected, cause: error })
})

test.each(['23505', '42P01', '22021', '40001', '40P01', '25P02'])('%s passes unchanged', (code) => {
  const error = withCode(code)
  expect(convertPostgresError(error)).toBe(error)
  expect(isConnectionLost(error)).toBe(false)
})

test('serialization failures and deadlocks are conflicts, and nothing else is', () => {
  const found = ['40001', '40P01', '23505', ''].map((code) => isConflict(withCode(code)))
  expect(found).toEqual([true, true, false, false])
  expect(isConflict(undefined)).toBe(false)
})

test.each([
  'Connection terminated unexpectedly',
  'Connection terminated',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Query read timeout',
])('"%s" without a code is a lost connection', (message) => {
  expect(isConnectionLost(new Error(message))).toBe(true)
  expect(convertPostgresError(new Error(message))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
})

test('a pool without a free connection is busy, and any failure to connect is unavailable', () => {
  const busy = new Error('timeout exceeded when trying to connect')
  expect(convertPostgresError(busy)).toMatchObject({ code: 'ERR_STORE_BUSY' })
  const error = new Error('The server does not support SSL connections')
  expect(createConnectError(error)).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', cause: error })
})

test('a value that is no error passes unchanged', () => {
  for (const thrown of [undefined, null, 'text', 7]) expect(convertPostgresError(thrown)).toBe(thrown)
})
