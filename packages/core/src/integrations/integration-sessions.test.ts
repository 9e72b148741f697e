import { expect, test, vi } from 'vitest'
import { before, getAddress, setUpIntegrations } from '../../test/support/integration-setup.js'
import { getOutcome } from '../../test/support/operator-setup.js'
import { seededRandom } from '../../test/support/seeded-random.js'
import { createAudited } from '../history/audit-log.js'
import { createIntegrationSessions } from './integration-sessions.js'

const hour = 60 * 60_000
const [shop, other] = [getAddress('a1'), getAddress('b2')]

async function setUp() {
  const integrations = setUpIntegrations()
  const { store, clock, commands } = integrations
  const secrets = new Map<string, string>()
  for (const address of [shop, other]) secrets.set(address, (await commands.create({ address })).apiSecret)
  const credentials = vi.spyOn(store.integrations, 'credentials')
  const sessions = createIntegrationSessions({
    integrations: store.integrations,
    auditedAs: (actor) => createAudited({ transaction: store.transaction, keys: before, clock, actor }),
    keys: before,
    clock,
    random: seededRandom('sessions'),
  })
  const signIn = (address = shop, apiSecret = secrets.get(address) ?? '', source = '192.0.2.1') =>
    sessions.signIn({ address, apiSecret, source })
  const outcome = (...given: Parameters<typeof signIn>) => getOutcome(signIn(...given))
  const isOpen = async (token: string) => (await sessions.authenticate(token)) !== null
  const audit = () =>
    store.committed.audit
      .map(({ actor, action, subject }) => `${actor} ${action} ${subject}`)
      .filter((line) => !line.startsWith('cli:'))
  return { ...integrations, sessions, signIn, outcome, isOpen, audit, credentials, secrets }
}

test('a session names its integration for 12 hours, and is stored as a hash', async () => {
  const { sessions, signIn, isOpen, clock, store } = await setUp()
  const { sessionToken, ...rest } = await signIn()
  expect(rest).toEqual({ integrationAddress: shop, expiresAt: clock.now() + 12 * hour })
  expect(sessionToken).toMatch(/^pi_portal_[\w-]{43}$/)
  expect(await sessions.authenticate(sessionToken)).toEqual({ integrationAddress: shop })
  expect(JSON.stringify(store.sql('select hash, api_hash from integration_sessions'))).not.toContain(sessionToken)
  await clock.advance(12 * hour - 1)
  expect(await isOpen(sessionToken)).toBe(true)
  await clock.advance(1)
  expect(await isOpen(sessionToken)).toBe(false)
})

test('a session that was opened while the clock was hours ahead ends once the clock is right', async () => {
  const { signIn, isOpen, clock } = await setUp()
  const { now } = clock
  clock.now = () => now() + 3 * hour
  const { sessionToken } = await signIn()
  expect(await isOpen(sessionToken)).toBe(true)
  clock.now = now
  expect(await isOpen(sessionToken)).toBe(false)
})

test('a session ends by signing out, and when its integration is disabled, also after it is enabled again', async () => {
  const { sessions, signIn, isOpen, commands } = await setUp()
  const [one, two, others] = [await signIn(), await signIn(), await signIn(other)]
  await sessions.signOut(one.sessionToken)
  await sessions.signOut(one.sessionToken)
  expect([await isOpen(one.sessionToken), await isOpen(two.sessionToken)]).toEqual([false, true])
  await commands.setEnabled(shop, false)
  expect(await isOpen(two.sessionToken)).toBe(false)
  await commands.setEnabled(shop, true)
  expect([await isOpen(two.sessionToken), await isOpen(others.sessionToken)]).toEqual([false, true])
})

test('a session ends with the API secret that opened it: at once without grace, else with the grace time', async () => {
  const { signIn, isOpen, commands, clock } = await setUp()
  const first = await signIn()
  const { apiSecret } = await commands.rotateApiSecret(shop, { graceMs: hour })
  const second = await signIn(shop, apiSecret)
  await clock.advance(hour - 1)
  expect([await isOpen(first.sessionToken), await isOpen(second.sessionToken)]).toEqual([true, true])
  await clock.advance(1)
  expect([await isOpen(first.sessionToken), await isOpen(second.sessionToken)]).toEqual([false, true])
  await commands.rotateApiSecret(shop)
  expect(await isOpen(second.sessionToken)).toBe(false)
})

test('a session is not opened when the secret is rotated while it is checked', async () => {
  const { store, commands, outcome, credentials } = await setUp()
  credentials.mockImplementationOnce(async (...given) => {
    const found = await store.integrations.credentials(...given)
    await commands.rotateApiSecret(shop)
    return found
  })
  expect(await outcome()).toBe('ERR_SIGN_IN_REJECTED')
  expect(store.sql('select * from integration_sessions')).toEqual([])
})

test('a session is opened only when its call is counted, which no rejected sign-in is', async () => {
  const { sessions, outcome, store, secrets } = await setUp()
  const counted: string[] = []
  const countCall = (address: string) => (counted.push(address) > 1 ? 1_500 : 0)
  const signIn = (apiSecret = secrets.get(shop) ?? '') =>
    sessions.signIn({ address: shop, apiSecret, source: 'here', countCall })
  await expect(signIn('wrong')).rejects.toMatchObject({ code: 'ERR_SIGN_IN_REJECTED' })
  await signIn()
  for (let n = 0; n < 30; n += 1)
    await expect(signIn()).rejects.toMatchObject({ code: 'ERR_SIGN_IN_LIMITED', retryAfterSeconds: 2 })
  expect(counted).toEqual(Array(31).fill(shop))
  expect(store.sql('select * from integration_sessions')).toHaveLength(1)
  // A call over the limit is no failed sign-in.
  expect(await outcome(shop, undefined, 'here')).toBe('signed in')
})

test('a session is unknown under any other text, and its CSRF token belongs to it alone', async () => {
  const { sessions, signIn } = await setUp()
  const [one, two] = [await signIn(), await signIn()]
  const operators = one.sessionToken.replace('pi_portal_', 'pi_session_')
  for (const text of ['', operators, `${one.sessionToken} `, one.sessionToken.slice(0, -1)])
    expect(await sessions.authenticate(text)).toBeNull()
  const token = sessions.csrfToken(one.sessionToken)
  expect([one, two].map(({ sessionToken }) => sessions.isCsrfToken(sessionToken, token))).toEqual([true, false])
})

test('a session ends when the previous API secret is ended, while one of the current secret goes on', async () => {
  const { signIn, isOpen, commands } = await setUp()
  const first = await signIn()
  const { apiSecret } = await commands.rotateApiSecret(shop, { graceMs: hour })
  const second = await signIn(shop, apiSecret)
  await commands.endPreviousApiSecret(shop)
  expect([await isOpen(first.sessionToken), await isOpen(second.sessionToken)]).toEqual([false, true])
  await expect(commands.endPreviousApiSecret(shop)).rejects.toMatchObject({ code: 'ERR_NO_PREVIOUS_SECRET' })
})

test('a rejected sign-in has one answer and the same reads, whatever is wrong', async () => {
  const { signIn, commands, credentials, secrets, store } = await setUp()
  await commands.setEnabled(other, false)
  const find = vi.spyOn(store.integrations, 'find')
  const given: readonly (readonly [string, string])[] = [
    [shop, 'wrong'],
    [shop, ''],
    [shop, secrets.get(other) ?? ''],
    [other, secrets.get(other) ?? ''],
    [getAddress('c3'), secrets.get(shop) ?? ''],
    ['no address', 'x'],
    ['', ''],
    [secrets.get(shop) ?? '', shop],
    ['0x'.repeat(10_000), 'x'.repeat(10_000)],
  ]
  for (const [index, [address, secret]] of given.entries()) {
    credentials.mockClear()
    const error: unknown = await signIn(address, secret, `s${index}`).catch((thrown: unknown) => thrown)
    expect(String(error)).toBe('SignInRejectedError: Address or API secret is wrong.')
    expect([credentials.mock.calls.length, find.mock.calls.length]).toEqual([1, 0])
  }
})

test('a rejected sign-in is recorded once for each source, by the address of an integration and by no other text', async () => {
  const { outcome, audit, secrets } = await setUp()
  for (let n = 0; n < 3; n += 1) await outcome(shop, 'wrong', 'one')
  await outcome(secrets.get(shop) ?? '', 'wrong', 'two')
  const failed = 'unauthenticated integration.sign_in_failed'
  expect(audit()).toEqual([`${failed} ${shop}`, `${failed} unknown address`])
})

test('a rejected sign-in counts for its source and address: 5, and for its source: 20; nobody locks out another source', async () => {
  const { outcome, clock } = await setUp()
  for (let n = 0; n < 5; n += 1) await outcome(shop, 'wrong', 'stranger')
  expect(await outcome(shop, undefined, 'stranger')).toBe('ERR_SIGN_IN_LIMITED')
  expect(await outcome(shop, undefined, 'owner')).toBe('signed in')
  for (let n = 0; n < 15; n += 1) await outcome(getAddress(`c${n % 10}`), 'wrong', 'stranger')
  expect(await outcome(other, undefined, 'stranger')).toBe('ERR_SIGN_IN_LIMITED')
  await clock.advance(15 * 60_000)
  expect(await outcome(other, undefined, 'stranger')).toBe('signed in')
})
