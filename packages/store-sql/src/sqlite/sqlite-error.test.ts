import { describe, expect, test } from 'vitest'
import { convertSqliteError, isLocked, openError } from './sqlite-error.js'

const withCode = (errcode: number) => Object.assign(new Error('of SQLite'), { code: 'ERR_SQLITE_ERROR', errcode })

describe('result codes', () => {
  for (const [errcode, expected] of [
    [5, 'ERR_STORE_BUSY'],
    [5 | (2 << 8), 'ERR_STORE_BUSY'],
    [6, 'ERR_STORE_BUSY'],
    [13, 'ERR_STORE_FULL'],
    [14, 'ERR_STORE_UNAVAILABLE'],
    [10, 'ERR_STORE_UNAVAILABLE'],
    [10 | (3 << 8), 'ERR_STORE_UNAVAILABLE'],
    [8, 'ERR_STORE_UNAVAILABLE'],
    [8 | (4 << 8), 'ERR_STORE_UNAVAILABLE'],
    [11, 'ERR_STORE_UNAVAILABLE'],
    [26, 'ERR_STORE_UNAVAILABLE'],
  ] as const)
    test(`${errcode} is ${expected}, with the error as its cause`, () => {
      const error = withCode(errcode)
      expect(convertSqliteError(error)).toMatchObject({ code: expected, cause: error })
    })

  for (const errcode of [1, 19, 20, 1555])
    test(`${errcode} passes unchanged`, () => {
      const error = withCode(errcode)
      expect(convertSqliteError(error)).toBe(error)
      expect(isLocked(error)).toBe(false)
    })

  test('an error without a code is recognised by the message of SQLite', () => {
    expect(convertSqliteError(new Error('database or disk is full'))).toMatchObject({ code: 'ERR_STORE_FULL' })
    for (const text of [
      'disk I/O error',
      'attempt to write a readonly database',
      'database disk image is malformed',
      'file is not a database',
    ])
      expect(convertSqliteError(new Error(text)), text).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(isLocked(new Error('database is locked'))).toBe(true)
    expect(isLocked('database is locked')).toBe(false)
  })
})

describe('opening', () => {
  test('any failure names the path and the remedy', () => {
    const error = openError('/data/x.db', withCode(26))
    expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(error.message).toContain('/data/x.db')
  })

  test('a locked file is busy, a full one is full', () => {
    expect(openError('x', withCode(5)).code).toBe('ERR_STORE_BUSY')
    expect(openError('x', withCode(13)).code).toBe('ERR_STORE_FULL')
  })
})
