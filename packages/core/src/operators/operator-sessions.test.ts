import { expect, test, vi } from 'vitest'
import { cheapCost, operatorSetup, passphrase } from '../../test/support/operator-setup.js'
import { parseMasterKey } from '../secrets/keys.js'
import { signInLimitDefaults } from './operator-sessions.js'

const hour = 60 * 60_000
const { windowMs } = signInLimitDefaults
const linkRejected = { code: 'ERR_LINK_REJECTED' }

test('a one-time link sets the passphrase once; a second use is rejected and changes nothing', async () => {
  const { commands, sessions, outcome } = operatorSetup()
  const { linkToken } = await commands.create({ name: 'alice' })
  expect(await sessions.redeemLink({ linkToken, passphrase })).toEqual({ name: 'alice', role: 'viewer' })
  await expect(sessions.redeemLink({ linkToken, passphrase: 'another passphrase' })).rejects.toMatchObject(linkRejected)
  expect(await outcome('alice', 'another passphrase')).toBe('ERR_SIGN_IN_REJECTED')
  expect(await outcome('alice')).toBe('signed in')
})

test('a one-time link is valid for the last millisecond of 24 hours, and expired in the next', async () => {
  const { commands, sessions, clock } = operatorSetup()
  const alice = await commands.create({ name: 'alice' })
  const bob = await commands.create({ name: 'bob' })
  await clock.advance(24 * hour - 1)
  await sessions.redeemLink({ linkToken: alice.linkToken, passphrase })
  await clock.advance(1)
  await expect(sessions.redeemLink({ linkToken: bob.linkToken, passphrase })).rejects.toMatchObject({
    code: 'ERR_LINK_REJECTED',
    message: 'This one-time link is used or expired; ask an administrator for a new one.',
  })
})

test('a one-time link of a disabled operator is rejected', async () => {
  const { sessions, store, commands } = operatorSetup()
  const { linkToken } = await commands.create({ name: 'alice' })
  await store.transaction((tx) => tx.operators.update('alice', { enabled: false }))
  await expect(sessions.redeemLink({ linkToken, passphrase })).rejects.toMatchObject(linkRejected)
})

test('a one-time link is not used up by a passphrase that is too short, and an unknown link learns nothing of the length', async () => {
  const { commands, sessions } = operatorSetup()
  const { linkToken } = await commands.create({ name: 'alice' })
  const [short, tooShort] = ['too short', { code: 'ERR_PASSPHRASE_LENGTH' }]
  await expect(sessions.redeemLink({ linkToken, passphrase: short })).rejects.toMatchObject(tooShort)
  for (const unknown of ['', linkToken.slice(0, -1), `${linkToken}x`, `pi_link_${'A'.repeat(43)}`])
    await expect(sessions.redeemLink({ linkToken: unknown, passphrase: short })).rejects.toMatchObject(linkRejected)
  await sessions.redeemLink({ linkToken, passphrase })
})

test('a session is 32 random bytes, stored as a hash, and names its operator', async () => {
  const { sessions, signIn, join, store, clock } = operatorSetup()
  await join('alice', 'operator')
  const opened = await signIn('ALICE')
  expect(opened).toEqual({
    operator: { name: 'alice', role: 'operator' },
    sessionToken: expect.stringMatching(/^pi_session_[A-Za-z0-9_-]{43}$/),
    expiresAt: clock.now() + 12 * hour,
  })
  expect(await sessions.authenticate(opened.sessionToken)).toEqual({ name: 'alice', role: 'operator' })
  expect((await signIn('alice')).sessionToken).not.toBe(opened.sessionToken)
  const [stored] = store.sql<{ hash: string }>('select * from operator_sessions')
  expect(stored?.hash).toMatch(/^[0-9a-f]{64}$/)
})

test('a session that was opened while the clock was hours ahead ends once the clock is right', async () => {
  const { sessions, signIn, join, clock } = operatorSetup()
  await join('alice')
  const { now } = clock
  clock.now = () => now() + 3 * hour
  const { sessionToken } = await signIn('alice')
  expect(await sessions.authenticate(sessionToken)).not.toBeNull()
  clock.now = now
  expect(await sessions.authenticate(sessionToken)).toBeNull()
})

test('a session is unknown under any other text, its stored hash included', async () => {
  const { sessions, signIn, join, store } = operatorSetup()
  await join('alice')
  const { sessionToken } = await signIn('alice')
  const [{ hash } = { hash: '' }] = store.sql<{ hash: string }>('select * from operator_sessions')
  for (const text of ['', hash, `pi_session_${hash}`, sessionToken.slice(0, -1), `${sessionToken} `]) {
    expect(await sessions.authenticate(text)).toBeNull()
    await sessions.signOut(text)
  }
  expect(await sessions.authenticate(sessionToken)).not.toBeNull()
})

test('a session is the 20th of its operator at most: a further one ends the oldest', async () => {
  const { sessions, signIn, join, clock } = operatorSetup()
  await join('alice')
  const opened = []
  for (let n = 0; n < 22; n += 1) {
    opened.push(await signIn('alice'))
    await clock.advance(1)
  }
  const found = await Promise.all(opened.map(({ sessionToken }) => sessions.authenticate(sessionToken)))
  expect(found.map((each) => each !== null)).toEqual([false, false, ...Array(20).fill(true)])
})

test('a sign-in replaces a hash that was made with a lower cost, and keeps one that was not', async () => {
  const { join, sessionsWith, store } = operatorSetup()
  await join('alice')
  const stored = () => store.sql<{ passphrase: string }>('select passphrase from operators')[0]?.passphrase
  const before = stored()
  const higher = sessionsWith({ ...cheapCost, log2N: 5 })
  await expect(higher.signIn({ name: 'alice', passphrase: 'wrong horse battery', source: 'a' })).rejects.toThrow()
  expect(stored()).toBe(before)
  await higher.signIn({ name: 'alice', passphrase, source: 'a' })
  const after = stored()
  expect([before, after]).toEqual([expect.stringMatching(/ln=4,/), expect.stringMatching(/ln=5,/)])
  await higher.signIn({ name: 'alice', passphrase, source: 'a' })
  expect(stored()).toBe(after)
})

test('a sign-in is rejected when the operator was reset or disabled while its passphrase was checked', async () => {
  for (const change of ['reset', 'disable']) {
    const { commands, signIn, join, store, audit } = operatorSetup()
    await join('alice')
    const find = vi.spyOn(store.operators, 'find').mockImplementationOnce(async (name) => {
      find.mockRestore()
      const record = await store.operators.find(name)
      await (change === 'reset' ? commands.reset(name) : commands.setEnabled(name, false))
      return record
    })
    await expect(signIn('alice')).rejects.toMatchObject({ code: 'ERR_SIGN_IN_REJECTED' })
    expect(store.sql('select * from operator_sessions')).toEqual([])
    expect(audit()).not.toContain('operator:alice operator.signed_in alice')
  }
})

test.each(['alice', 'nobody'])('100 sign-ins at once are not more than 5 guesses, known or not: %s', async (name) => {
  const { join, outcome } = operatorSetup()
  await join('alice')
  const outcomes = await Promise.all(Array.from({ length: 100 }, (_, n) => outcome(name, 'wrong', `s${n}`)))
  expect(outcomes.filter((each) => each === 'ERR_SIGN_IN_REJECTED')).toHaveLength(5)
  expect(outcomes.filter((each) => each === 'ERR_SIGN_IN_LIMITED')).toHaveLength(95)
})

test('a redeemed link opens the name again', async () => {
  const { commands, sessions, join, outcome } = operatorSetup()
  await join('alice')
  for (let n = 0; n < 6; n += 1) await outcome('alice', 'wrong', `s${n}`)
  const { linkToken } = await commands.reset('alice')
  await sessions.redeemLink({ linkToken, passphrase })
  expect(await outcome('alice')).toBe('signed in')
})

test('a sign-out ends its session alone; the audit log names the operator of each link, sign-in and sign-out', async () => {
  const { sessions, signIn, join, audit, store } = operatorSetup()
  await join('alice')
  const [one, two] = [await signIn('alice'), await signIn('alice')]
  await sessions.signOut(one.sessionToken)
  await sessions.signOut(one.sessionToken)
  expect(await sessions.authenticate(one.sessionToken)).toBeNull()
  expect(await sessions.authenticate(two.sessionToken)).not.toBeNull()
  expect(audit().slice(1)).toEqual([
    ...['operator:alice operator.link_redeemed alice', 'operator:alice operator.signed_in alice'],
    ...['operator:alice operator.signed_in alice', 'operator:alice operator.signed_out alice'],
  ])
  expect(store.committed.audit[2]?.details).toEqual({ source: '192.0.2.1' })
})

test('the audit log has one record for the failures of a name in a window, without the name that no operator has', async () => {
  const { join, outcome, audit, clock, store } = operatorSetup()
  await join('alice')
  const failures = () => audit().filter((line) => line.includes('failed'))
  for (let n = 0; n < 4; n += 1) {
    await outcome('alice', 'wrong', `a${n}`)
    await outcome('stranger', 'wrong', `b${n}`)
    await outcome(`not a name ${n}`, 'wrong', `c${n}`)
  }
  const [ofAlice, ofUnknown] = ['alice', 'unknown name'].map(
    (subject) => `unauthenticated operator.sign_in_failed ${subject}`,
  )
  expect(failures()).toEqual([ofAlice, ofUnknown, ofUnknown])
  await clock.advance(windowMs)
  await outcome('alice', 'wrong', 'x'.repeat(1_000))
  expect(failures()).toEqual([ofAlice, ofUnknown, ofUnknown, ofAlice])
  expect(store.committed.audit.at(-1)?.details).toEqual({ source: 'x'.repeat(64) })
})

test.each([0, 1, 19, 20])('after failures of %i names the next one costs the same, known or not', async (count) => {
  const writes: number[] = []
  for (const name of ['alice', 'stranger']) {
    const { join, outcome, store } = operatorSetup()
    await join('alice')
    for (let n = 0; n < count; n += 1) await outcome(`name-${n}`, 'wrong', `a${n}`)
    const transaction = vi.spyOn(store, 'transaction')
    for (let n = 0; n < 3; n += 1) await outcome(name, 'wrong', `b${n}`)
    writes.push(transaction.mock.calls.length)
  }
  const expected = count < 20 ? 1 : 0
  expect(writes).toEqual([expected, expected])
})

test('a CSRF token belongs to its session alone, and stays valid while the master key that made it is configured', async () => {
  const { sessions, signIn, join, sessionsWith } = operatorSetup()
  await join('alice')
  const [one, two] = [await signIn('alice'), await signIn('alice')]
  const token = sessions.csrfToken(one.sessionToken)
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect(sessions.isCsrfToken(one.sessionToken, token)).toBe(true)
  expect(sessions.isCsrfToken(two.sessionToken, token)).toBe(false)
  for (const given of ['', token.slice(1), `${token}x`, one.sessionToken])
    expect(sessions.isCsrfToken(one.sessionToken, given)).toBe(false)
  const newKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
  const oldKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
  const rotated = sessionsWith(cheapCost, parseMasterKey(`${newKey},${oldKey}`))
  expect(rotated.isCsrfToken(one.sessionToken, token)).toBe(true)
  expect(rotated.csrfToken(one.sessionToken)).not.toBe(token)
  const without = sessionsWith(cheapCost, parseMasterKey(newKey))
  expect(without.isCsrfToken(one.sessionToken, token)).toBe(false)
})
