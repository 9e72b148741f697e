import { describe, expect, test } from 'vitest'
import {
  approved,
  begun,
  email,
  notStarted,
  otherShop,
  rejected,
  review,
  shareSetup,
  shop,
} from '../../test/support/share-setup.js'
import { StoreError } from '../errors.js'
import type { Store } from '../ports/store.js'
import { claimLeaseMs, landingMs } from './claim-times.js'

const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE', retryable: true })
const notDonated = expect.objectContaining({ code: 'ERR_VERIFICATION_UNAVAILABLE' })

describe('INTERFACE 3, KYC attachment', () => {
  test('none: the token is redeemed and the check begins', async () => {
    const { share, provider, verification, outcomes } = shareSetup()
    expect(await share(shop, 'token')).toEqual({ ...begun, reused: true })
    expect(provider.redeemed).toEqual([
      { shareToken: 'token', externalUserId: 'pi:account-1:1', applicantId: 'applicant of pi:account-1:1' },
    ])
    expect(await verification()).toMatchObject({ donor: shop, applicantId: 'applicant of pi:account-1:1', claim: null })
    expect(await outcomes()).toEqual(['claimed', 'redeemed'])
  })

  test('the status that the provider answers with a redemption is answered', async () => {
    const { share, provider } = shareSetup()
    provider.reviews.set('applicant of pi:account-1:1', approved)
    expect(await share()).toEqual({ ...approved, reused: true })
  })

  test('approved, shared by the caller: its status, and the provider is not called', async () => {
    const { share, webhook, provider, outcomes } = shareSetup()
    await share()
    await webhook(approved)
    expect(await share()).toEqual({ ...approved, reused: false })
    expect(provider.calls).toEqual(['redeem pi:account-1:1'])
    expect(await outcomes()).toEqual(['claimed', 'redeemed', 'already_approved'])
  })

  test.each(['init', 'pending', 'prechecked', 'onHold'] as const)(
    'in flight (%s), shared by the caller: not displaced, and the provider is not called',
    async (status) => {
      const { share, webhook, provider, outcomes } = shareSetup()
      await share()
      await webhook(review(status))
      expect(await share()).toEqual({ ...review(status), reused: false })
      expect(provider.calls).toEqual(['redeem pi:account-1:1'])
      expect(await outcomes()).toEqual(['claimed', 'redeemed', 'in_flight'])
    },
  )

  test('completed RED, shared by the caller: a fresh token is redeemed under a new name', async () => {
    const { share, webhook, provider, verification } = shareSetup()
    await share()
    await webhook(rejected)
    expect(await share()).toEqual({ ...begun, reused: true })
    expect(provider.calls).toEqual(['redeem pi:account-1:1', 'redeem pi:account-1:2'])
    expect(await verification()).toMatchObject({ applicantId: 'applicant of pi:account-1:2', attempts: 2 })
  })

  test('a refused retry after RED leaves what was before', async () => {
    const { share, webhook, provider, verification } = shareSetup()
    await share()
    await webhook(rejected)
    const before = await verification()
    provider.fault = () => 'rejected'
    await expect(share()).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
    expect(await verification()).toEqual({ ...before, attempts: 2 })
  })

  test('fifty at once: one redeems, the others are answered that nothing has begun and keep their tokens', async () => {
    const { share, provider } = shareSetup()
    const answers = await Promise.all(Array.from({ length: 50 }, () => share()))
    expect(answers.filter(({ reused }) => reused)).toEqual([{ ...begun, reused: true }])
    for (const answer of answers.filter(({ reused }) => !reused))
      expect([
        { ...notStarted, reused: false },
        { ...begun, reused: false },
      ]).toContainEqual(answer)
    expect(provider.redeemed).toHaveLength(1)
  })

  test('shared by another integration, or completed by the user: the same refusal whatever its status', async () => {
    for (const donor of [otherShop, 'self'])
      for (const each of [begun, review('pending'), review('onHold'), approved, rejected]) {
        const { share, store, provider, accounts, outcomes, webhook } = shareSetup()
        await share(otherShop)
        await webhook(each)
        await store.transaction((tx) => tx.verifications.change('account-1', { donor }))
        const error = await share(shop).catch((reason: unknown) => reason)
        expect(error).toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE', message: 'KYC unavailable for this user' })
        expect(provider.calls).toHaveLength(1)
        expect(accounts.given).toHaveLength(2)
        expect(await outcomes()).toEqual(['claimed', 'redeemed', 'not_donated'])
      }
  })
})

describe('a refusal consumes nothing, and the same request may be sent again', () => {
  test.each([
    ['rejected', 'ERR_SHARE_TOKEN_REJECTED', { providerMessage: 'Token has expired' }],
    ['throttled', 'ERR_IDENTITY_UNAVAILABLE', { retryAfterMs: 7_000 }],
    ['misconfigured', 'ERR_IDENTITY_MISCONFIGURED', {}],
  ] as const)('%s is %s', async (fault, code, fields) => {
    const { share, provider, verification, outcomes } = shareSetup()
    provider.fault = () => fault
    await expect(share(shop, 'token')).rejects.toMatchObject({ code, ...fields })
    expect(provider.redeemed).toEqual([])
    expect(await verification()).toMatchObject({ donor: null, claim: null, attempts: 1 })
    expect(await outcomes()).toEqual(['claimed', fault])
    provider.fault = () => null
    expect(await share(shop, 'token')).toEqual({ ...begun, reused: true })
  })

  test('an operator is told of refused credentials', async () => {
    const { share, provider, logger } = shareSetup()
    provider.fault = () => 'misconfigured'
    await expect(share()).rejects.toThrow()
    const fields = { eventType: 'identity.misconfigured', externalUserId: 'pi:account-1:1', reason: 'the signature' }
    expect(logger.lines).toMatchObject([{ level: 'error', fields }])
  })

  test('an operator is told once of credentials that are refused to a look-up of any kind', async () => {
    const { share, provider, logger, clock, verdicts, settle } = shareSetup()
    const errors = () => logger.lines.filter(({ level }) => level === 'error').length
    provider.fault = (call) => (call === 'redeem' ? 'lost before' : 'misconfigured')
    await expect(share()).rejects.toThrow()
    expect(errors()).toBe(1)
    await clock.advance(claimLeaseMs)
    await expect(share()).rejects.toThrow()
    expect(errors()).toBe(2)
    expect(await verdicts.ask()).toBe(1)
    expect(errors()).toBe(3)
    await expect(settle({ externalUserId: 'pi:account-1:1', applicantId: 'x' })).rejects.toThrow()
    expect(errors()).toBe(4)
  })
})

describe('an answer that was lost', () => {
  test('is found at once where the token was redeemed', async () => {
    const { share, provider, outcomes } = shareSetup()
    provider.fault = (call) => (call === 'redeem' ? 'lost after' : null)
    expect(await share()).toEqual({ ...begun, reused: true })
    expect(provider.calls).toEqual(['redeem pi:account-1:1', 'find pi:account-1:1'])
    expect(await outcomes()).toEqual(['claimed', 'found'])
  })

  test('keeps the claim where nothing is found: not before the lease ends is a token given again, under another name', async () => {
    const { share, provider, clock, outcomes, redemptions } = shareSetup()
    provider.fault = (call) => (call === 'redeem' ? 'lost before' : null)
    await expect(share(shop, 'token')).rejects.toThrow(unavailable)
    provider.fault = () => null
    await clock.advance(claimLeaseMs - 1)
    // Whether its token was redeemed is not known, so it is not told that it was left alone.
    await expect(share(shop, 'token')).rejects.toThrow(unavailable)
    expect(await share(otherShop, 'theirs')).toEqual({ ...notStarted, reused: false })
    expect(provider.redeemed).toEqual([])
    await clock.advance(1)
    expect(await share(shop, 'token')).toEqual({ ...begun, reused: true })
    expect(provider.calls).toEqual([
      'redeem pi:account-1:1',
      'find pi:account-1:1',
      'find pi:account-1:1',
      'redeem pi:account-1:2',
    ])
    expect(await outcomes()).toEqual(['claimed', 'unknown', 'unknown', 'concurrent', 'absent', 'claimed', 'redeemed'])
    expect(await redemptions()).toEqual([
      ['pi:account-1:1', shop, 'absent'],
      ['pi:account-1:2', shop, 'attached'],
    ])
  })

  test('is found after the lease, and a second token is not consumed', async () => {
    const { share, provider, clock, outcomes } = shareSetup()
    provider.fault = () => 'lost after'
    await expect(share(shop, 'first')).rejects.toThrow(unavailable)
    provider.fault = () => null
    await clock.advance(claimLeaseMs)
    expect(await share(shop, 'second')).toEqual({ ...begun, reused: false })
    expect(provider.redeemed.map(({ shareToken }) => shareToken)).toEqual(['first'])
    expect(await outcomes()).toEqual(['claimed', 'unknown', 'found', 'in_flight'])
  })

  test('is found by a webhook: the claim is over before its lease', async () => {
    const { share, provider, webhook, verification } = shareSetup()
    provider.fault = () => 'lost after'
    await expect(share()).rejects.toThrow(unavailable)
    expect(await webhook(review('pending'))).toBe('applied')
    expect(await verification()).toMatchObject({ donor: shop, claim: null, review: review('pending') })
    expect(await share()).toEqual({ ...review('pending'), reused: false })
  })

  test.each([
    ['throttled', 'ERR_IDENTITY_UNAVAILABLE'],
    ['misconfigured', 'ERR_IDENTITY_MISCONFIGURED'],
    ['lost before', 'ERR_IDENTITY_UNAVAILABLE'],
  ] as const)('is asked for again at once by the next request when the question was %s', async (fault, code) => {
    const { share, provider, clock } = shareSetup()
    provider.fault = () => 'lost after'
    await expect(share()).rejects.toThrow(unavailable)
    await clock.advance(claimLeaseMs)
    provider.fault = () => fault
    await expect(share()).rejects.toMatchObject({ code })
    provider.fault = () => null
    expect(await share()).toEqual({ ...begun, reused: false })
    expect(provider.redeemed).toHaveLength(1)
  })
})

describe('a claim of another integration', () => {
  test('whose token was redeemed ends as its verification, and the one who asks is refused', async () => {
    const { share, provider, clock, verification } = shareSetup()
    provider.fault = () => 'lost after'
    await expect(share(otherShop)).rejects.toThrow(unavailable)
    provider.fault = () => null
    await clock.advance(claimLeaseMs)
    await expect(share(shop)).rejects.toThrow(notDonated)
    expect(await verification()).toMatchObject({ donor: otherShop, claim: null })
    expect(provider.redeemed).toHaveLength(1)
  })

  test('whose token was not redeemed is taken over, under another name', async () => {
    const { share, provider, clock, verification } = shareSetup()
    provider.fault = () => 'lost before'
    await expect(share(otherShop, 'theirs')).rejects.toThrow(unavailable)
    provider.fault = () => null
    await clock.advance(claimLeaseMs)
    expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
    expect(provider.redeemed).toEqual([
      expect.objectContaining({ shareToken: 'ours', externalUserId: 'pi:account-1:2' }),
    ])
    expect(await verification()).toMatchObject({ donor: shop })
    await expect(share(otherShop)).rejects.toThrow(notDonated)
  })
})

describe('where this process falls behind', () => {
  test('a transaction that fails after the redemption leaves a claim that is resolved', async () => {
    const { shareOn, share, store, provider, clock } = shareSetup()
    let transactions = 0
    const failing: Pick<Store, 'transaction'> = {
      transaction: (work) =>
        ++transactions === 2
          ? Promise.reject(new StoreError('ERR_STORE_UNAVAILABLE', 'gone'))
          : store.transaction(work),
    }
    const input = { integrationAddress: shop, email, shareToken: 'token' }
    await expect(shareOn(failing)(input)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(await share(shop, 'token')).toEqual({ ...notStarted, reused: false })
    await clock.advance(claimLeaseMs)
    expect(await share(shop, 'token')).toEqual({ ...begun, reused: false })
    expect(provider.redeemed).toHaveLength(1)
  })

  test('a request that was suspended with its claim redeems nothing', async () => {
    const { shareOn, store, provider, clock, outcomes, verification } = shareSetup()
    const suspended: Pick<Store, 'transaction'> = {
      async transaction(work) {
        const done = await store.transaction(work)
        await clock.advance(claimLeaseMs - landingMs + 1)
        return done
      },
    }
    const input = { integrationAddress: shop, email, shareToken: 'token' }
    await expect(shareOn(suspended)(input)).rejects.toThrow(unavailable)
    expect(provider.calls).toEqual([])
    expect(await outcomes()).toEqual(['claimed', 'late'])
    expect(await verification()).toMatchObject({ claim: null })
  })

  test('an answer that comes after somebody else attached the applicant keeps the verdict since', async () => {
    const { share, provider, webhook, verification, outcomes } = shareSetup()
    provider.pause = async (_, half) => {
      if (half === 'answer') await webhook(approved)
    }
    expect(await share()).toEqual({ ...approved, reused: true })
    expect(await verification()).toMatchObject({ donor: shop, review: approved })
    expect(await outcomes()).toEqual(['claimed', 'attached', 'redeemed'])
  })
})

test('neither the address nor the token is in a row or in a log', async () => {
  const { share, provider, clock, store, logger, webhook } = shareSetup()
  for (const fault of ['rejected', 'throttled', 'misconfigured', 'lost before', null] as const) {
    provider.fault = () => fault
    await share().catch(() => undefined)
    await clock.advance(claimLeaseMs)
  }
  await webhook(approved)
  const { verifications, redemptions, verdicts, shareAttempts, providerEvents, dataKeys } = store.committed()
  const rows = [[...verifications], [...redemptions], verdicts, shareAttempts, [...providerEvents], [...dataKeys]]
  const kept = JSON.stringify([rows, logger.lines])
  expect(kept).toContain('account-1')
  expect(kept).not.toMatch(/canary/i)
})
