import { expect, test } from 'vitest'
import { checkOperatorName, checkRole, parseOperatorName } from './operator-commands.js'

test.each([
  ['alice', 'alice'],
  ['Alice@Shop.Example', 'alice@shop.example'],
  ['a', 'a'],
  ['0-1_2.3', '0-1_2.3'],
  ['a'.repeat(64), 'a'.repeat(64)],
])('%j is a name', (text, name) => {
  expect(parseOperatorName(text)).toBe(name)
  expect(checkOperatorName(text)).toBe(name)
})

test.each([
  ...['', ' alice', 'alice ', '.a', 'a.', 'a b', 'al\u0000ice', 'käse'],
  'a'.repeat(65),
  ...['a\n', '\u202ealice', '0x:y'],
  // The Kelvin sign: in lower case it is the letter k.
  '\u212aim',
])('%j is no name, and the error does not repeat it', (text) => {
  expect(parseOperatorName(text)).toBeNull()
  expect(() => checkOperatorName(text)).toThrow(/^An operator name has 1 to 64 letters, digits, dots, /)
})

test('the roles are viewer, operator and admin, in this case', () => {
  expect(['viewer', 'operator', 'admin'].map(checkRole)).toEqual(['viewer', 'operator', 'admin'])
  for (const text of ['', 'Admin', 'root', 'toString'])
    expect(() => checkRole(text)).toThrow('The role of an operator is one of viewer, operator, admin.')
})
