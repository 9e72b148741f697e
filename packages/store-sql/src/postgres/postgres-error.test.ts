import { describe, expect, test } from 'vitest'
import { connectError, convertPostgresError, isConflict, isLost } from './postgres-error.js'

const withCode = (code: string) => Object.assign(new Error(`error ${code}`), { code })

describe('errors of the server', () => {
  for (const [code, expected] of [
    ['53300', 'ERR_STORE_BUSY'],
    ['55P03', 'ERR_STORE_BUSY'],
    ['57014', 'ERR_STORE_BUSY'],
    ['53100', 'ERR_STORE_FULL'],
    ['57P01', 'ERR_STORE_UNAVAILABLE'],
    ['57P02', 'ERR_STORE_UNAVAILABLE'],
    ['57P03', 'ERR_STORE_UNAVAILABLE'],
    ['08006', 'ERR_STORE_UNAVAILABLE'],
    ['25006', 'ERR_STORE_UNAVAILABLE'],
    ['28P01', 'ERR_STORE_UNAVAILABLE'],
    ['3D000', 'ERR_STORE_UNAVAILABLE'],
    ['ECONNREFUSED', 'ERR_STORE_UNAVAILABLE'],
    ['ECONNRESET', 'ERR_STORE_UNAVAILABLE'],
    ['ENOENT', 'ERR_STORE_UNAVAILABLE'],
    ['ENOTFOUND', 'ERR_STORE_UNAVAILABLE'],
    ['EAI_AGAIN', 'ERR_STORE_UNAVAILABLE'],
  ] as const)
    test(`${code} is ${expected}, with the error as its cause`, () => {
      const error = withCode(code)
      expect(convertPostgresError(error)).toMatchObject({ code: expected, cause: error })
    })

  for (const code of ['23505', '42P01', '22021', '40001', '40P01', '25P02'])
    test(`${code} passes unchanged`, () => {
      const error = withCode(code)
      expect(convertPostgresError(error)).toBe(error)
      expect(isLost(error)).toBe(false)
    })

  test('serialization failures and deadlocks are conflicts, and nothing else is', () => {
    expect(['40001', '40P01', '23505', ''].map((code) => isConflict(withCode(code)))).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(isConflict(undefined)).toBe(false)
  })
})

describe('errors of the connection that have no code', () => {
  for (const message of [
    'Connection terminated unexpectedly',
    'Connection terminated',
    'Connection terminated due to connection timeout',
    'Client has encountered a connection error and is not queryable',
    'Query read timeout',
  ])
    test(`"${message}" is a lost connection`, () => {
      expect(isLost(new Error(message))).toBe(true)
      expect(convertPostgresError(new Error(message))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    })

  test('a pool without a free connection is busy', () => {
    const error = new Error('timeout exceeded when trying to connect')
    expect(convertPostgresError(error)).toMatchObject({ code: 'ERR_STORE_BUSY' })
  })

  test('any failure to connect is unavailable', () => {
    const error = new Error('The server does not support SSL connections')
    expect(connectError(error)).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', cause: error })
  })

  test('a value that is no error passes unchanged', () => {
    for (const thrown of [undefined, null, 'text', 7]) expect(convertPostgresError(thrown)).toBe(thrown)
  })
})
