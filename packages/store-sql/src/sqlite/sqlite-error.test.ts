import { expect, test } from 'vitest'
import { convertSqliteError, createOpenError, isLocked } from './sqlite-error.js'

const withCode = (errcode: number) => Object.assign(new Error('of SQLite'), { code: 'ERR_SQLITE_ERROR', errcode })

test.each([
  ['ERR_STORE_BUSY', [5, 5 | (2 << 8), 6]],
  ['ERR_STORE_FULL', [13]],
  ['ERR_STORE_UNAVAILABLE', [14, 10, 10 | (3 << 8), 8, 8 | (4 << 8), 11, 26]],
])('%s is the error of the result codes %j, with the error as its cause', (expected, codes) => {
  for (const error of codes.map(withCode))
    expect(convertSqliteError(error)).toMatchObject({ code: expected, cause: error })
})

test.each([1, 19, 20, 1555])('result code %i passes unchanged', (errcode) => {
  const error = withCode(errcode)
  expect(convertSqliteError(error)).toBe(error)
  expect(isLocked(error)).toBe(false)
})

test.each([
  ['ERR_STORE_FULL', 'database or disk is full'],
  ['ERR_STORE_UNAVAILABLE', 'disk I/O error'],
  ['ERR_STORE_UNAVAILABLE', 'attempt to write a readonly database'],
  ['ERR_STORE_UNAVAILABLE', 'database disk image is malformed'],
  ['ERR_STORE_UNAVAILABLE', 'file is not a database'],
])('%s is recognized by the message "%s" of SQLite without a code', (code, message) => {
  expect(convertSqliteError(new Error(message))).toMatchObject({ code })
})

test('a lock is recognized by the message of an error', () => {
  expect([isLocked(new Error('database is locked')), isLocked('database is locked')]).toEqual([true, false])
})

test('a failure to open names the path; a locked file is busy, a full one is full', () => {
  const error = createOpenError('/data/x.db', withCode(26))
  expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message: expect.stringContaining('/data/x.db') })
  const codes = [5, 13].map((errcode) => createOpenError('x', withCode(errcode)).code)
  expect(codes).toEqual(['ERR_STORE_BUSY', 'ERR_STORE_FULL'])
})
