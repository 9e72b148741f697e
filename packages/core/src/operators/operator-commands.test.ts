import { expect, test } from 'vitest'
import { operatorSetup, passphrase } from '../../test/support/operator-setup.js'
import { checkOperatorName, checkRole, parseOperatorName } from './operator-commands.js'

test('create stores the hash of the one-time link alone, and the link is valid for 24 hours', async () => {
  const { commands, store, clock } = operatorSetup()
  const { operator, linkToken } = await commands.create({ name: 'Alice', role: 'operator' })
  expect(linkToken).toMatch(/^pi_link_[A-Za-z0-9_-]{43}$/)
  expect(operator).toEqual({
    ...{ name: 'alice', role: 'operator', enabled: true, createdAt: clock.now(), signsInBy: 'passphrase' },
    ...{ hasPassphrase: false, linkExpiresAt: clock.now() + 24 * 60 * 60_000 },
  })
  expect(await commands.list()).toEqual([operator])
  const stored = JSON.stringify(store.sql('select * from operators'))
  expect(stored).toMatch(/"link_hash":"[0-9a-f]{64}"/)
  expect(stored).not.toContain(linkToken.slice('pi_link_'.length))
})

test('disabling ends open sessions and the one-time link; enabling brings neither back', async () => {
  const { commands, sessions, signIn, join, outcome } = operatorSetup()
  await join('alice')
  const { sessionToken } = await signIn('alice')
  const { linkToken } = await commands.create({ name: 'bob' })
  for (const name of ['Alice', 'bob'])
    expect(await commands.setEnabled(name, false)).toMatchObject({ enabled: false, linkExpiresAt: null })
  expect(await sessions.authenticate(sessionToken)).toBeNull()
  expect(await outcome('alice')).toBe('ERR_SIGN_IN_REJECTED')
  for (const name of ['alice', 'bob']) expect((await commands.setEnabled(name, true)).enabled).toBe(true)
  expect(await sessions.authenticate(sessionToken)).toBeNull()
  await expect(sessions.redeemLink({ linkToken, passphrase })).rejects.toMatchObject({ code: 'ERR_LINK_REJECTED' })
  expect(await outcome('alice')).toBe('signed in')
})

test('a new role applies to open sessions at once', async () => {
  const { commands, sessions, signIn, join, store } = operatorSetup()
  await join('alice', 'admin')
  const { sessionToken } = await signIn('alice')
  expect((await commands.setRole('Alice', 'viewer')).role).toBe('viewer')
  expect(await sessions.authenticate(sessionToken)).toEqual({ name: 'alice', role: 'viewer' })
  expect(store.committed.audit.at(-1)).toMatchObject({
    action: 'operator.role_set',
    details: { from: 'admin', to: 'viewer' },
  })
  await expect(commands.setRole('alice', 'root' as 'admin')).rejects.toMatchObject({ code: 'ERR_OPERATOR_INVALID' })
})

test('reset removes the passphrase, ends all sessions and replaces an earlier link', async () => {
  const { commands, sessions, signIn, join, outcome, store } = operatorSetup()
  await join('alice')
  const open = [await signIn('alice'), await signIn('alice')]
  const first = await commands.reset('ALICE')
  expect(store.committed.audit.at(-1)).toMatchObject({ action: 'operator.reset', details: { endedSessions: 2 } })
  for (const { sessionToken } of open) expect(await sessions.authenticate(sessionToken)).toBeNull()
  expect(await outcome('alice')).toBe('ERR_SIGN_IN_REJECTED')
  const second = await commands.reset('alice')
  const redeem = (linkToken: string) => sessions.redeemLink({ linkToken, passphrase: `${passphrase} 2` })
  await expect(redeem(first.linkToken)).rejects.toMatchObject({ code: 'ERR_LINK_REJECTED' })
  await redeem(second.linkToken)
  expect(await outcome('alice')).toBe('ERR_SIGN_IN_REJECTED')
  expect(await outcome('alice', `${passphrase} 2`)).toBe('signed in')
})

const keepsAdmin = { keepsAdmin: true }

test('with keepsAdmin, the last admin with a passphrase is not disabled, demoted or reset, and nothing is recorded', async () => {
  const { commands, join, signIn, audit } = operatorSetup()
  await join('root', 'admin')
  await join('olga', 'operator')
  await commands.create({ name: 'invited', role: 'admin' })
  await join('gone', 'admin')
  await commands.setEnabled('gone', false)
  const before = audit().length
  for (const work of [
    commands.setEnabled('root', false, keepsAdmin),
    commands.setRole('root', 'operator', keepsAdmin),
    commands.reset('root', keepsAdmin),
  ])
    await expect(work).rejects.toMatchObject({ code: 'ERR_OPERATOR_LAST_ADMIN', operator: 'root' })
  expect(audit()).toHaveLength(before)
  expect((await signIn('root')).operator.role).toBe('admin')
})

test('with keepsAdmin, of two admins who demote each other at once one stays', async () => {
  const { commands, join } = operatorSetup()
  await join('a', 'admin')
  await join('b', 'admin')
  const done = await Promise.allSettled(['a', 'b'].map((name) => commands.setRole(name, 'viewer', keepsAdmin)))
  expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect((await commands.list()).map(({ role }) => role)).toEqual(['viewer', 'admin'])
})

test('a command on an unknown operator names the code and leaves no audit record', async () => {
  const { commands, audit } = operatorSetup()
  for (const name of ['nobody', 'no body', 'x'.repeat(1_000)])
    for (const work of [
      commands.setEnabled(name, false),
      commands.setEnabled(name, true),
      commands.setRole(name, 'admin'),
      commands.reset(name),
    ])
      await expect(work).rejects.toMatchObject({ code: 'ERR_OPERATOR_NOT_FOUND', operator: name.slice(0, 64) })
  expect(audit()).toEqual([])
})

test('every command is in the audit log with its actor', async () => {
  const { commands, audit } = operatorSetup()
  await commands.create({ name: 'alice' })
  await commands.setEnabled('alice', false)
  await commands.setEnabled('alice', true)
  await commands.setRole('alice', 'admin')
  await commands.reset('alice')
  expect(audit()).toEqual([
    ...['cli:root operator.created alice', 'cli:root operator.disabled alice', 'cli:root operator.enabled alice'],
    ...['cli:root operator.role_set alice', 'cli:root operator.reset alice'],
  ])
})

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
