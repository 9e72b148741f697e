/**
 * docs/decisions/identity.md: no second token of a person is redeemed while the outcome of the first one is in flight
 * or unknown.
 */
import { describe, expect, test } from 'vitest'
import {
  approved,
  email,
  identitySetup,
  otherEmail,
  otherShop,
  rejected,
  shop,
} from '../../test/support/identity-setup.js'
import { ownershipSetup, X, Y } from '../../test/support/ownership-setup.js'

const unavailable = { code: 'ERR_IDENTITY_UNAVAILABLE' }
const integrations = [shop, otherShop]

/** States of a person's first token, with the answers to a share of its integration and of another one. */
const stands = [
  ['in flight', { own: { reused: false }, other: { reused: false } }],
  ['lost, with its lease', { own: unavailable, other: { reused: false } }],
  ['lost, and its look-up fails', { own: unavailable, other: unavailable }],
  ['unresolved', { own: unavailable, other: unavailable }],
] as const
type StandName = (typeof stands)[number][0]

/** An account that had proved one address, and proves another one while the token of the first stands so. */
async function person(stand: StandName, when: 'before' | 'since') {
  const setup = identitySetup()
  const { prove, proveAs, provider, lose, expire, shareFor, fails, clock } = setup
  const account = await prove(email)
  if (when === 'before') await proveAs(account, otherEmail)
  const address = when === 'before' ? otherEmail : email
  if (stand === 'in flight') {
    provider.pause = (call, half) =>
      call === 'redeem' && half === 'answer' ? new Promise(() => undefined) : Promise.resolve()
    void shareFor(address)
    await clock.advance(0)
  } else {
    if (stand === 'unresolved') provider.findsByName = false
    await lose('lost after', shop, address)
    if (stand !== 'lost, with its lease') await expire()
    if (stand === 'lost, and its look-up fails') fails('lost before', 'find')
  }
  if (when === 'since') await proveAs(account, otherEmail)
  return { ...setup, account }
}

/** The answer, or the error. */
const outcome = (answer: Promise<unknown>) => answer.catch((error: unknown) => error)

describe.each(stands)('while a token is %s', (stand, { own, other }) => {
  test.each(['before', 'since'] as const)(
    'no other token is redeemed for any address of the account, which proved the second address %s',
    async (when) => {
      const { shareFor, provider } = await person(stand, when)
      for (let times = 0; times < 3; times += 1)
        for (const by of integrations)
          expect(await outcome(shareFor(otherEmail, by))).toMatchObject(by === shop ? own : other)
      expect(provider.calls.filter((call) => call.startsWith('redeem'))).toHaveLength(1)
    },
  )

  test('no other token is redeemed for a placeholder', async () => {
    const setup = identitySetup()
    const { share, provider, lose, expire, fails, clock } = setup
    if (stand === 'in flight') {
      provider.pause = (call, half) =>
        call === 'redeem' && half === 'answer' ? new Promise(() => undefined) : Promise.resolve()
      void share()
      await clock.advance(0)
    } else {
      if (stand === 'unresolved') provider.findsByName = false
      await lose()
      if (stand !== 'lost, with its lease') await expire()
      if (stand === 'lost, and its look-up fails') fails('lost before', 'find')
    }
    for (const by of integrations) expect(await outcome(share(by))).toMatchObject(by === shop ? own : other)
    expect(provider.calls.filter((call) => call.startsWith('redeem'))).toHaveLength(1)
  })

  test('the token of another person is redeemed', async () => {
    const { shareFor, fails, provider } = await person(stand, 'before')
    fails(null)
    provider.pause = async () => undefined
    expect(await shareFor('third.user@example.com', otherShop)).toMatchObject({ reused: true })
  })
})

describe('once the outcome is known', () => {
  test.each(integrations)('a found applicant counts for every address of the account, to %s', async (by) => {
    const { shareFor, fails, provider, account, has } = await person('lost, and its look-up fails', 'since')
    fails(null)
    const answer = await outcome(shareFor(otherEmail, by))
    expect(answer).toMatchObject(by === shop ? { reused: false } : { code: 'ERR_VERIFICATION_UNAVAILABLE' })
    expect(provider.redeemed).toHaveLength(1)
    expect(has(account)).toHaveLength(1)
  })

  test('and is a rejection or absent, a token for the second address is redeemed', async () => {
    const found = await person('lost, and its look-up fails', 'since')
    found.fails(null)
    await found.identity.pollDue()
    const name = found.provider.redeemed[0]?.externalUserId ?? ''
    await found.webhook(rejected, { name })
    expect(await found.shareFor(otherEmail)).toMatchObject({ reused: true })
    expect(found.provider.redeemed).toHaveLength(2)

    const { prove, proveAs, lose, expire, shareFor, provider } = identitySetup()
    const account = await prove(email)
    await lose('lost before')
    await proveAs(account, otherEmail)
    await expire()
    expect(await shareFor(otherEmail)).toMatchObject({ reused: true })
    expect(provider.redeemed).toHaveLength(1)
  })

  test('by an operator, the next token is redeemed', async () => {
    const { shareFor, identity, provider } = await person('unresolved', 'since')
    await outcome(shareFor(otherEmail))
    const externalUserId = provider.redeemed[0]?.externalUserId ?? ''
    expect(await identity.resolveRedemption({ externalUserId, applicantId: null })).toBe('absent')
    expect(await shareFor(otherEmail)).toMatchObject({ reused: true })
  })
})

test('a redemption for an address that its account gave up belongs to the next owner, and is not looked up for the former account', async () => {
  const s = ownershipSetup()
  const carrier = await s.register(X)
  const n = await s.loseOne(X)
  await s.proveAs(carrier, Y)
  expect(await s.reuses(Y)).toBe(true)
  const owner = await s.proveIt(X)
  await s.expire()
  s.provider.deleted.clear()
  expect(await s.reuses(X)).toBe(false)
  expect(s.holds(owner)).toEqual([s.of(n, 'init')])
})

test('when two persons become one, each may have a token in flight; after that there is one at a time', async () => {
  const s = ownershipSetup()
  const account = await s.proveIt(X)
  const [one, other] = [await s.begin(X), await s.begin(Y)]
  await s.proveAs(account, Y)
  expect(await s.reuses(Y)).toBe(false)
  await s.end(one, 'redeemed')
  await s.end(other, 'redeemed')
  expect(s.holds(account)).toEqual([s.of(one, 'init'), s.of(other, 'init')])
  await s.verdict(`applicant of ${other}`, 'approved')
  expect(await s.shareFor(Y)).toEqual({ ...approved, reused: false })
  expect(s.provider.redeemed).toHaveLength(2)
})
