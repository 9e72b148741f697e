import { expect, test } from 'vitest'
import { externalUserIdOf } from './external-user-id.js'

test('an attempt has one name, and two attempts never share one', () => {
  const names = ['pi', 'pi-a'].flatMap((namespace) =>
    ['a', 'a-1', 'b'].flatMap((account) => [1, 2, 11].map((n) => externalUserIdOf(namespace, account, n))),
  )
  expect(new Set(names).size).toBe(names.length)
  expect(externalUserIdOf('pi', 'a', 1)).toBe('pi:a:1')
})

test.each([
  ['an e-mail address', 'anna@example.com'],
  ['a colon, that separates', 'a:1'],
  ['a path', '../..'.repeat(30)],
  ['half a character', '\ud800'],
  ['nothing', ''],
  ['more than 64 characters', 'x'.repeat(65)],
])('an account id of %s is told to nobody: its name has a hash', (_, accountId) => {
  const name = externalUserIdOf('pi', accountId, 3)
  expect(name).toMatch(/^pi:h~[0-9a-f]{40}:3$/)
  expect(externalUserIdOf('pi', accountId, 3)).toBe(name)
  expect(externalUserIdOf('pi', `${accountId} `, 3)).not.toBe(name)
})
