/** Operators who sign in at an OpenID provider. Source: docs/decisions/operators.md. */
import { expect, test } from 'vitest'
import { getOutcome, operatorSetup, passphrase } from '../../test/support/operator-setup.js'
import { parseMasterKey } from '../secrets/keys.js'

const name = 'alice@shop.example'
const issuer = 'https://id.example'
const proved = (given: string) => ({ name: given, source: '192.0.2.1', issuer })

test('an operator of the OpenID provider is created without a link and without a passphrase', async () => {
  const { commands, store } = operatorSetup()
  expect(await commands.createForOidc({ name: 'Alice@shop.example', role: 'operator' })).toMatchObject({
    ...{ name, role: 'operator', enabled: true, signsInBy: 'oidc', hasPassphrase: false, linkExpiresAt: null },
  })
  await expect(commands.createForOidc({ name })).rejects.toMatchObject({ code: 'ERR_OPERATOR_EXISTS' })
  const [record] = store.committed.audit
  expect(record).toMatchObject({ subject: name, details: { role: 'operator', signsInBy: 'oidc' } })
})

test('an operator of the OpenID provider gets a session by its proved name, and each sign-in is in the audit log with source and issuer', async () => {
  const { commands, sessions, store } = operatorSetup()
  await commands.createForOidc({ name, role: 'operator' })
  const { sessionToken, operator } = await sessions.signInProved(proved('Alice@Shop.example'))
  expect(operator).toEqual({ name, role: 'operator' })
  expect(await sessions.authenticate(sessionToken)).toEqual({ name, role: 'operator' })
  expect(store.committed.audit.at(-1)).toMatchObject({
    ...{ actor: `operator:${name}`, action: 'operator.signed_in', details: { source: '192.0.2.1', issuer } },
  })
})

test('an operator of the OpenID provider becomes one with a passphrase by a reset, and the other way round; both end the sessions', async () => {
  const { commands, sessions, join, signIn, outcome, audit } = operatorSetup()
  await join(name)
  const { sessionToken } = await signIn(name)
  expect(await getOutcome(sessions.signInProved(proved(name)))).toBe('ERR_OIDC_REJECTED')
  expect(await commands.resetForOidc(name)).toMatchObject({ signsInBy: 'oidc', hasPassphrase: false })
  expect(await sessions.authenticate(sessionToken)).toBeNull()
  expect(await outcome(name)).toBe('ERR_SIGN_IN_REJECTED')
  const opened = await sessions.signInProved(proved(name))
  const { operator, linkToken } = await commands.reset(name)
  expect(operator).toMatchObject({ signsInBy: 'passphrase', hasPassphrase: false })
  expect(await sessions.authenticate(opened.sessionToken)).toBeNull()
  expect(await getOutcome(sessions.signInProved(proved(name)))).toBe('ERR_OIDC_REJECTED')
  await sessions.redeemLink({ linkToken, passphrase })
  expect(await outcome(name)).toBe('signed in')
  expect(audit().filter((line) => line.includes('operator.reset'))).toHaveLength(2)
})

test('an operator of the OpenID provider counts as an admin who can sign in where a provider is configured', async () => {
  const { commands, join } = operatorSetup()
  await join('root', 'admin')
  const demoted = (hasOidc?: boolean) => commands.setRole('root', 'viewer', { keepsAdmin: true, hasOidc })
  expect(await getOutcome(demoted(true))).toBe('ERR_OPERATOR_LAST_ADMIN')
  await commands.createForOidc({ name, role: 'admin' })
  for (const hasOidc of [undefined, false]) expect(await getOutcome(demoted(hasOidc))).toBe('ERR_OPERATOR_LAST_ADMIN')
  expect(await demoted(true)).toMatchObject({ role: 'viewer' })
})

test('a proved name that no operator has gets no session; its first failure is recorded without the name, and malformed names share one record', async () => {
  const { sessions, audit } = operatorSetup()
  for (const given of ['eve@shop.example', 'mallory@shop.example', '', 'a b', 'x'.repeat(10_000)])
    expect(await getOutcome(sessions.signInProved(proved(given)))).toBe('ERR_OIDC_REJECTED')
  expect(audit()).toEqual(Array(3).fill('unauthenticated operator.sign_in_failed unknown name'))
})

test('a proved name that no operator has does not become another one whose letters look alike in lower case', async () => {
  const { commands, sessions } = operatorSetup()
  await commands.createForOidc({ name: 'kim@shop.example' })
  const kelvin = '\u212aim@shop.example'
  expect(kelvin.toLowerCase()).toBe('kim@shop.example')
  expect(await getOutcome(sessions.signInProved(proved(kelvin)))).toBe('ERR_OIDC_REJECTED')
})

test('the data of a sign-in in progress opens as it was sealed, and is not readable in between', () => {
  const { sessions } = operatorSetup()
  const sealed = sessions.sealSignIn('canary ✓')
  expect(sealed).toMatch(/^\d+\.[A-Za-z0-9_-]+$/)
  expect(Buffer.from(sealed.split('.')[1] ?? '', 'base64url').toString('utf8')).not.toContain('canary')
  expect(sessions.openSignIn(sealed)).toBe('canary ✓')
})

test('the data of a sign-in in progress does not open when it is altered, or sealed with another master key', () => {
  const { sessions, sessionsWith } = operatorSetup()
  const sealed = sessions.sealSignIn('text')
  const other = sessionsWith(undefined, parseMasterKey('0123456789abcdef'.repeat(4)))
  for (const given of ['', 'x', `${sealed}A`, sealed.slice(0, -1), `1${sealed}`, '1.', `0.${'A'.repeat(60)}`])
    expect(sessions.openSignIn(given)).toBeNull()
  expect(other.openSignIn(sealed)).toBeNull()
})
