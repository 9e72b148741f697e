import { describe, expect, test } from 'vitest'
import {
  approved,
  begun,
  email,
  first,
  identitySetup,
  notStarted,
  otherEmail,
  otherShop,
  rejected,
  review,
  second,
  shop,
} from '../../test/support/identity-setup.js'
import { StoreError } from '../errors.js'
import type { Store } from '../ports/store.js'
import { landingMs, redemptionLeaseMs } from './redemption.js'

const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE', retryable: true })
const notDonated = expect.objectContaining({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
const input = { integrationAddress: shop, email, shareToken: 'token' }

describe('interface 3, KYC attachment', () => {
  test('none: the token is redeemed and the review begins', async () => {
    const { share, provider, subject, outcomes } = identitySetup()
    expect(await share(shop, 'token')).toEqual({ ...begun, reused: true })
    expect(provider.redeemed).toEqual([
      { shareToken: 'token', externalUserId: first, applicantId: `applicant of ${first}` },
    ])
    expect(subject()).toMatchObject({ donor: shop, applicantId: `applicant of ${first}`, accountId: null })
    expect(outcomes()).toEqual(['started', 'redeemed'])
  })

  test('the answer has the status that the provider returned with the redemption', async () => {
    const { share, provider } = identitySetup()
    provider.reviews.set(`applicant of ${first}`, approved)
    expect(await share()).toEqual({ ...approved, reused: true })
  })

  test('an approval of another level than the requested one attaches its applicant, and does not count', async () => {
    const { share, provider, start, subject, history } = identitySetup()
    provider.reviews.set(`applicant of ${first}`, approved)
    provider.levelName = 'basic'
    const asking = start({ provider: { ...provider, levelName: 'strict' } })
    const input = { integrationAddress: shop, email, shareToken: 'canary-token' }
    expect(await asking.share(input)).toEqual({ ...begun, reused: true })
    expect(subject()).toMatchObject({ applicantId: `applicant of ${first}`, review: begun, reviewedAt: null })
    expect(history()).toEqual(['redemption review other_level'])
    expect(await share()).toEqual({ ...begun, reused: false })
  })

  test('approved, shared by the caller: its status, and the provider is not called', async () => {
    const { share, webhook, provider, outcomes } = identitySetup()
    await share()
    await webhook(approved)
    expect(await share()).toEqual({ ...approved, reused: false })
    expect(provider.calls).toEqual([`redeem ${first}`])
    expect(outcomes()).toEqual(['started', 'redeemed', 'already_approved'])
  })

  test.each(['init', 'pending', 'prechecked', 'onHold'] as const)(
    'in flight (%s), shared by the caller: the applicant stays, and the provider is not called',
    async (status) => {
      const { share, webhook, provider, outcomes } = identitySetup()
      await share()
      await webhook(review(status))
      expect(await share()).toEqual({ ...review(status), reused: false })
      expect(provider.calls).toEqual([`redeem ${first}`])
      expect(outcomes()).toEqual(['started', 'redeemed', 'in_flight'])
    },
  )

  test('completed RED, shared by the caller: a fresh token is redeemed under a new name', async () => {
    const { share, webhook, provider, subject } = identitySetup()
    await share()
    await webhook(rejected)
    expect(await share()).toEqual({ ...begun, reused: true })
    expect(provider.calls).toEqual([`redeem ${first}`, `redeem ${second}`])
    expect(subject()).toMatchObject({ applicantId: `applicant of ${second}`, attachedNumber: 2, redemptions: 2 })
  })

  test('a refused retry after RED leaves the verification unchanged and answers the former verdict', async () => {
    const { share, webhook, fails, subject } = identitySetup()
    await share()
    await webhook(rejected)
    const before = subject()
    fails('rejected')
    await expect(share()).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED', formerReview: rejected })
    expect(subject()).toEqual({ ...before, redemptions: 2 })
  })

  test('a rejection whose donor changed during the redemption is not shown', async () => {
    const { share, webhook, provider, seedSubject } = identitySetup()
    await share()
    await webhook(rejected)
    provider.redeem = async () => {
      seedSubject('s1', { donor: otherShop })
      return { kind: 'rejected', message: 'Token has expired', providerCode: null }
    }
    await expect(share()).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED', formerReview: null })
  })

  test('a rejection of a subject that was closed during the redemption is not shown', async () => {
    const { share, webhook, provider, prove, proveAs, subjectOf } = identitySetup()
    const account = await prove()
    await share()
    await webhook(rejected, { name: `pi:${(await subjectOf()).id}:1` })
    provider.redeem = async () => {
      await proveAs(account, otherEmail)
      return { kind: 'rejected', message: 'Token has expired', providerCode: null }
    }
    await expect(share()).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED', formerReview: null })
  })

  test('the rejection of another address of the account is not shown as the former verdict', async () => {
    const { share, shareFor, webhook, fails, prove, proveAs, subjectOf } = identitySetup()
    const account = await prove()
    await share()
    await webhook(rejected, { name: `pi:${(await subjectOf()).id}:1` })
    await proveAs(account, otherEmail)
    fails('rejected')
    await expect(shareFor(otherEmail)).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED', formerReview: null })
  })

  test('fifty at once: one redeems, the others are answered reused: false and their tokens are not used', async () => {
    const { share, provider } = identitySetup()
    const answers = await Promise.all(Array.from({ length: 50 }, () => share()))
    expect(answers.filter(({ reused }) => reused)).toEqual([{ ...begun, reused: true }])
    for (const answer of answers.filter(({ reused }) => !reused))
      expect([
        { ...notStarted, reused: false },
        { ...begun, reused: false },
      ]).toContainEqual(answer)
    expect(provider.redeemed).toHaveLength(1)
  })

  test.each(['another integration', 'the user directly'])(
    'shared by %s: the same refusal for every status, and no token is used',
    async (who) => {
      for (const each of [begun, review('pending'), review('onHold'), approved, rejected]) {
        const { share, provider, outcomes, webhook, register, direct } = identitySetup()
        if (who === 'another integration') {
          await share(otherShop)
          await webhook(each)
        } else await direct(await register(), each)
        const before = provider.redeemed.length
        const error = await share(shop).catch((reason: unknown) => reason)
        expect(error).toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE', message: 'KYC unavailable for this user' })
        expect(provider.redeemed).toHaveLength(before)
        expect(outcomes().at(-1)).toBe('not_donated')
      }
    },
  )
})

describe('a refusal uses no token, and the same request may be sent again', () => {
  test.each([
    ['rejected', 'ERR_SHARE_TOKEN_REJECTED', { providerMessage: 'Token has expired' }],
    ['throttled', 'ERR_IDENTITY_UNAVAILABLE', { retryAfterMs: 7_000 }],
    ['misconfigured', 'ERR_IDENTITY_MISCONFIGURED', {}],
  ] as const)('%s is %s', async (fault, code, fields) => {
    const { share, provider, fails, subject, outcomes, states } = identitySetup()
    fails(fault)
    await expect(share(shop, 'token')).rejects.toMatchObject({ code, ...fields })
    expect(provider.redeemed).toEqual([])
    expect(subject()).toMatchObject({ donor: null, redemptions: 1 })
    expect(outcomes()).toEqual(['started', fault])
    expect(states()).toEqual(['refused'])
    fails(null)
    expect(await share(shop, 'token')).toEqual({ ...begun, reused: true })
  })

  test('rejected credentials are logged as an error', async () => {
    const { share, fails, logger } = identitySetup()
    fails('misconfigured')
    await expect(share()).rejects.toThrow()
    const fields = { eventType: 'identity.misconfigured', externalUserId: first, reason: 'the signature' }
    expect(logger.lines).toMatchObject([{ level: 'error', fields }])
  })

  test('credentials that are rejected in a look-up of any kind are logged as one error', async () => {
    const { share, provider, errors, expire, identity } = identitySetup()
    provider.fault = (call) => (call === 'redeem' ? 'lost before' : 'misconfigured')
    await expect(share()).rejects.toThrow()
    expect(errors()).toHaveLength(1)
    await expire()
    await expect(share()).rejects.toThrow()
    expect(errors()).toHaveLength(2)
    expect(await identity.pollDue()).toBe(1)
    expect(errors()).toHaveLength(3)
    await expect(identity.resolveRedemption({ externalUserId: first, applicantId: 'x' })).rejects.toThrow()
    expect(errors()).toHaveLength(4)
  })
})

describe('a lost answer', () => {
  test('of a redeemed token is found at once', async () => {
    const { share, provider, fails, outcomes } = identitySetup()
    fails('lost after', 'redeem')
    expect(await share()).toEqual({ ...begun, reused: true })
    expect(provider.calls).toEqual([`redeem ${first}`, `find ${first}`])
    expect(outcomes()).toEqual(['started', 'found'])
  })

  test('without an applicant leaves the redemption open: only after its lease is a token sent again, under another name', async () => {
    const { share, provider, fails, clock, outcomes, redemptions } = identitySetup()
    fails('lost before', 'redeem')
    await expect(share(shop, 'token')).rejects.toThrow(unavailable)
    fails(null)
    await clock.advance(redemptionLeaseMs - 1)
    // Whether its token was used is not known, so it is not answered that it was left alone.
    await expect(share(shop, 'token')).rejects.toThrow(unavailable)
    expect(await share(otherShop, 'theirs')).toEqual({ ...notStarted, reused: false })
    expect(provider.redeemed).toEqual([])
    await clock.advance(1)
    expect(await share(shop, 'token')).toEqual({ ...begun, reused: true })
    expect(provider.calls).toEqual([`redeem ${first}`, `find ${first}`, `find ${first}`, `redeem ${second}`])
    expect(outcomes()).toEqual(['started', 'unknown', 'unknown', 'concurrent', 'absent', 'started', 'redeemed'])
    expect(redemptions()).toEqual([
      [first, shop, 'absent'],
      [second, shop, 'attached'],
    ])
  })

  test('is found after the lease, and a second token is not used', async () => {
    const { share, provider, fails, expire, outcomes } = identitySetup()
    fails('lost after')
    await expect(share(shop, 'first')).rejects.toThrow(unavailable)
    fails(null)
    await expire()
    expect(await share(shop, 'second')).toEqual({ ...begun, reused: false })
    expect(provider.redeemed.map(({ shareToken }) => shareToken)).toEqual(['first'])
    expect(outcomes()).toEqual(['started', 'unknown', 'found', 'in_flight'])
  })

  test('is found by a webhook before the lease expires', async () => {
    const { share, lose, webhook, subject } = identitySetup()
    await lose()
    expect(await webhook(review('pending'))).toBe('applied')
    expect(subject()).toMatchObject({ donor: shop, review: review('pending') })
    expect(await share()).toEqual({ ...review('pending'), reused: false })
  })

  test.each([
    ['throttled', 'ERR_IDENTITY_UNAVAILABLE'],
    ['misconfigured', 'ERR_IDENTITY_MISCONFIGURED'],
    ['lost before', 'ERR_IDENTITY_UNAVAILABLE'],
  ] as const)('is looked up again at once by the next request when the look-up was %s', async (fault, code) => {
    const { share, lose, provider, fails, expire, outcomes } = identitySetup()
    await lose()
    await expire()
    fails(fault)
    await expect(share()).rejects.toMatchObject({ code })
    expect(outcomes().at(-1)).toBe(fault === 'lost before' ? 'unavailable' : fault)
    fails(null)
    expect(await share()).toEqual({ ...begun, reused: false })
    expect(provider.redeemed).toHaveLength(1)
  })
})

describe('a lost answer of another integration', () => {
  test('whose token was redeemed gives it the verification, and the caller gets 409', async () => {
    const { share, lose, provider, expire, subject } = identitySetup()
    await lose('lost after', otherShop)
    await expire()
    await expect(share(shop)).rejects.toThrow(notDonated)
    expect(subject()).toMatchObject({ donor: otherShop })
    expect(provider.redeemed).toHaveLength(1)
  })

  test('whose token was not redeemed lets the caller redeem, under another name', async () => {
    const { share, lose, provider, expire, subject } = identitySetup()
    await lose('lost before', otherShop)
    await expire()
    expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
    expect(provider.redeemed).toMatchObject([{ shareToken: 'ours', externalUserId: second }])
    expect(subject()).toMatchObject({ donor: shop })
    await expect(share(otherShop)).rejects.toThrow(notDonated)
  })
})

describe('when this process is slow or fails', () => {
  test('a transaction that fails after the redemption leaves a redemption that is looked up', async () => {
    const { start, share, store, provider, expire } = identitySetup()
    let transactions = 0
    const transaction: Store['transaction'] = (work) =>
      ++transactions === 3 ? Promise.reject(new StoreError('ERR_STORE_UNAVAILABLE', 'gone')) : store.transaction(work)
    const failing = start({ store: { ...store, transaction } })
    await expect(failing.share(input)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(await share(shop, 'token')).toEqual({ ...notStarted, reused: false })
    await expire()
    expect(await share(shop, 'token')).toEqual({ ...begun, reused: false })
    expect(provider.redeemed).toHaveLength(1)
  })

  test('a request that was suspended beyond the first half minute of its lease sends nothing', async () => {
    const { start, store, provider, clock, outcomes, states } = identitySetup()
    const transaction: Store['transaction'] = async (work) => {
      const done = await store.transaction(work)
      await clock.advance(redemptionLeaseMs - landingMs + 1)
      return done
    }
    const redeem = () => Promise.reject(new Error('it was asked to send'))
    const suspended = start({ store: { ...store, transaction }, provider: { ...provider, redeem } })
    await expect(suspended.share(input)).rejects.toThrow(unavailable)
    expect(provider.calls).toEqual([])
    expect(outcomes()).toEqual(['started', 'late'])
    expect(states()).toEqual(['refused'])
  })

  test('an answer after the webhook that attached the applicant keeps the newer verdict', async () => {
    const { share, during, webhook, subject, outcomes } = identitySetup()
    during('redeem', () => webhook(approved))
    expect(await share()).toEqual({ ...approved, reused: true })
    expect(subject()).toMatchObject({ donor: shop, review: approved })
    expect(outcomes()).toEqual(['started', 'reported', 'redeemed'])
  })

  test('an owner that changes with every round is 503 after four rounds, and no token is used', async () => {
    const { start, store, provider, outcomes, ids } = identitySetup()
    const transaction: Store['transaction'] = (work) =>
      store.transaction((tx) => {
        const resolve = async () => ({ accountId: ids.next(), proved: false })
        return work({ ...tx, identityAccounts: { ...tx.identityAccounts, resolve } })
      })
    await expect(start({ store: { ...store, transaction } }).share(input)).rejects.toThrow(unavailable)
    expect(outcomes()).toEqual(['exhausted'])
    expect(provider.calls).toEqual([])
  })
})

test('no row and no log has the address or the token', async () => {
  const { share, fails, expire, memory, logger, webhook } = identitySetup()
  for (const fault of ['rejected', 'throttled', 'misconfigured', 'lost before', null] as const) {
    fails(fault)
    await share().catch(() => undefined)
    await expire()
  }
  await webhook(approved, { name: 'pi:s1:5' })
  const stored = JSON.stringify([memory.dump(), logger.lines])
  expect(stored).toContain('pi:s1:5')
  expect(stored).not.toMatch(/canary/i)
})

/** docs/interface.md 4.2: the statements of a share do not reveal whether there is an account. */
test.each([
  ['a first share', 0],
  ['a share of what is in flight', 1],
  ['a retry after RED', 2],
])('%s sends the same statements whether or not an account exists, carried or proved', async (_, before) => {
  const sent: string[] = []
  for (const account of ['none', 'carried', 'proved']) {
    const { start, store, share, register, proveAs, webhook, subjectOf } = identitySetup()
    const accountId = account === 'none' ? null : await register()
    if (accountId !== null && account === 'proved') await proveAs(accountId, email)
    if (before > 0) await share()
    if (before > 1) await webhook(rejected, { name: `pi:${(await subjectOf()).id}:1` })
    const statements: string[] = []
    const noting = <T extends object>(part: T): T =>
      new Proxy(part, {
        get(target, name) {
          if (typeof name === 'string') statements.push(name)
          return Reflect.get(target, name)
        },
      })
    const transaction: Store['transaction'] = (work) =>
      store.transaction((tx) => {
        statements.push('transaction')
        const parts = { identity: noting(tx.identity), identityAccounts: noting(tx.identityAccounts) }
        return work({ ...tx, ...parts })
      })
    await start({ store: { ...store, transaction } }).share({ ...input, shareToken: 'measured' })
    sent.push(statements.join(' '))
  }
  expect(sent[1]).toBe(sent[0])
  // A proof makes the subject, and gives its owner; a first share of it writes that once more.
  expect(sent[2]).toBe(sent[0])
})
