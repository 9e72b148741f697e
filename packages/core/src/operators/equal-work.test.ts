import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, expect, test, vi } from 'vitest'
import { cheapCost, operatorSetup, passphrase } from '../../test/support/operator-setup.js'

const hashed = vi.spyOn(crypto, 'scrypt')
syncBuiltinESMExports()
afterAll(() => {
  hashed.mockRestore()
  syncBuiltinESMExports()
})

test.each([
  ['an unknown name', 'nobody', passphrase],
  ['a malformed name', 'no body', passphrase],
  ['a wrong passphrase', 'alice', 'wrong horse battery'],
  ['a passphrase that is too long', 'alice', 'x'.repeat(100_000)],
  ['a disabled operator', 'bob', passphrase],
  ['an operator without a passphrase', 'carol', passphrase],
  ['an operator without a passphrase, and none', 'carol', ''],
  ['an operator of the OpenID provider', 'dave', passphrase],
])('a sign-in with %s computes one hash at the full cost, like one that succeeds', async (_, name, given) => {
  const { commands, join, outcome, signIn } = operatorSetup()
  for (const each of ['alice', 'bob']) await join(each)
  await commands.create({ name: 'carol' })
  await commands.createForOidc({ name: 'dave' })
  await commands.setEnabled('bob', false)
  hashed.mockClear()
  expect(await outcome('alice')).toBe('signed in')
  await expect(signIn(name, given)).rejects.toThrow(/^Name or passphrase is wrong\.$/)
  const costs = hashed.mock.calls.map(([, , , options]) => options)
  const { log2N, r, p } = cheapCost
  expect(costs).toHaveLength(2)
  for (const cost of costs) expect(cost).toMatchObject({ N: 2 ** log2N, r, p })
})

test('a limited sign-in, an unknown link and an unknown session compute none', async () => {
  const { join, sessions, outcome } = operatorSetup()
  await join('alice')
  for (let n = 0; n < 5; n += 1) await outcome('alice', 'wrong', `s${n}`)
  hashed.mockClear()
  expect(await outcome('alice')).toBe('ERR_SIGN_IN_LIMITED')
  await sessions.redeemLink({ linkToken: `pi_link_${'A'.repeat(43)}`, passphrase }).catch(() => undefined)
  await sessions.authenticate(`pi_session_${'A'.repeat(43)}`)
  expect(hashed).not.toHaveBeenCalled()
})
