import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { sqlState } from './driver.js'

const coded = "Object.assign(new Error('x'), { code: '40P01' })"

test.each([
  ['an error', coded, '40P01'],
  ['its cause, as drizzle wraps it', `new Error('y', { cause: ${coded} })`, '40P01'],
  ['a cause of a cause', `new Error('z', { cause: new Error('y', { cause: ${coded} }) })`, '40P01'],
  ['an error of the system', "Object.assign(new Error('x'), { code: 'ECONNRESET' })", undefined],
  ['a text', "'40P01'", undefined],
  ['nothing', 'undefined', undefined],
])('the SQLSTATE of %s of another realm is read', (_name, code, expected) => {
  expect(sqlState(runInNewContext(code))).toBe(expected)
})
