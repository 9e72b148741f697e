/**
 * Every row of docs/interface.md 3 (KYC attachment), 4.2 and 7 (share endpoint), on the store under test.
 */
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
  shop,
} from '../../test/support/identity-setup.js'

const conflict = { code: 'ERR_VERIFICATION_UNAVAILABLE', message: 'KYC unavailable for this user' }
const statuses = [begun, review('pending'), review('prechecked'), review('onHold'), approved, rejected]

/** The answer, or the fields of the error that are answered. */
const answerOf = (share: Promise<unknown>) =>
  share.catch(({ code, message, retryAfterMs }) => ({ code, message, retryAfterMs }))

describe('interface 3, by the existing state of the user’s verification', () => {
  test('none, valid token: redeemed, reused: true, init', async () => {
    const { share, provider } = identitySetup()
    expect(await share()).toEqual({ ...begun, reused: true })
    expect(provider.redeemed).toHaveLength(1)
  })

  test('approved, shared by the caller: its status, reused: false, token not consumed', async () => {
    const { share, webhook, provider } = identitySetup()
    await share()
    await webhook(approved)
    expect(await share()).toEqual({ ...approved, reused: false })
    expect(provider.redeemed).toHaveLength(1)
  })

  test('in flight, shared by the caller: reused: false, the applicant stays', async () => {
    const { share, webhook, provider, subject, clock } = identitySetup()
    await share()
    for (const each of statuses.slice(0, 4)) {
      await clock.advance(1)
      await webhook(each, { key: each.reviewStatus })
      expect(await share()).toEqual({ ...each, reused: false })
    }
    expect([provider.redeemed.length, subject().applicantId]).toEqual([1, `applicant of ${first}`])
  })

  test('completed RED, shared by the caller, fresh token: redeemed again', async () => {
    const { share, webhook, provider } = identitySetup()
    await share()
    await webhook(rejected)
    expect(await share()).toEqual({ ...begun, reused: true })
    expect(provider.redeemed).toHaveLength(2)
  })

  test('concurrent submissions of one e-mail: exactly one redeems, the others answer reused: false', async () => {
    const { share, provider } = identitySetup()
    const answers = await Promise.all(Array.from({ length: 10 }, () => share()))
    expect(answers.filter(({ reused }) => reused)).toHaveLength(1)
    for (const { reused, reviewStatus } of answers)
      if (!reused) expect([notStarted.reviewStatus, begun.reviewStatus]).toContain(reviewStatus)
    expect(provider.redeemed).toHaveLength(1)
  })

  test('shared by another integration, any status: 409 with the same body', async () => {
    const { share, webhook, provider } = identitySetup()
    await share(otherShop)
    for (const each of statuses) {
      await webhook(each, { key: JSON.stringify(each) })
      expect(await answerOf(share())).toMatchObject(conflict)
    }
    expect(provider.redeemed).toHaveLength(1)
  })

  test('completed directly by the user, any status: 409 with the same body', async () => {
    const { share, register, direct, provider, clock } = identitySetup()
    const accountId = await register()
    for (const each of statuses) {
      await clock.advance(1)
      await direct(accountId, each)
      expect(await answerOf(share())).toMatchObject(conflict)
    }
    expect(provider.calls).toEqual([])
  })
})

describe('interface 4.2, the account of a verification', () => {
  test('is the account that verified the e-mail, before all that carry it', async () => {
    const { register, prove, share, has } = identitySetup()
    const carrier = await register()
    const owner = await prove()
    await share()
    expect([has(carrier), has(owner).length]).toEqual([[], 1])
  })

  test('else the oldest account that carries the e-mail unverified', async () => {
    const { register, share, has } = identitySetup()
    const [oldest, newer] = [await register(), await register()]
    await share()
    expect([has(oldest).length, has(newer)]).toEqual([1, []])
  })

  test('else a placeholder, which becomes the account of the user who proves the e-mail by code', async () => {
    const { identity, share, has, subject } = identitySetup()
    await share()
    expect(subject().accountId).toBeNull()
    const accounts = await identity.accounts()
    const { code } = await accounts.requestCode(email)
    expect(has((await accounts.proveByCode(email, code)).accountId)).toHaveLength(1)
  })

  test('or of the user for whom the integration attests it; another integration cannot', async () => {
    const { identity, share, has } = identitySetup()
    await share()
    const accounts = await identity.accounts()
    await expect(accounts.proveByAttestation(email, otherShop)).rejects.toMatchObject({ code: 'ERR_EMAIL_PROOF' })
    expect(has((await accounts.proveByAttestation(email, shop)).accountId)).toHaveLength(1)
  })

  test('an account that registers with the address and proves nothing gets no earlier share', async () => {
    const { share, register, has } = identitySetup()
    await share()
    const accountId = await register()
    await share()
    expect(has(accountId)).toEqual([])
  })

  test('a new owner of a mailbox sees nothing of the former owner', async () => {
    const { share, prove, has, webhook } = identitySetup()
    await share()
    await webhook(approved)
    const [former, next] = [await prove(), await prove()]
    expect([has(former).length, has(next)]).toEqual([1, []])
    expect(await share()).toEqual({ ...begun, reused: true })
  })

  test('a person keeps one verification when the address changes', async () => {
    const { share, prove, proveAs, shareFor, webhook, subjectOf, provider } = identitySetup()
    const accountId = await prove()
    await share()
    await webhook(approved, { name: `pi:${(await subjectOf()).id}:1` })
    await proveAs(accountId, otherEmail)
    expect(await shareFor(otherEmail)).toEqual({ ...approved, reused: false })
    await expect(shareFor(otherEmail, otherShop)).rejects.toMatchObject(conflict)
    expect(provider.redeemed).toHaveLength(1)
  })
})

describe('interface 4.2, the endpoint never reveals whether there is an account', () => {
  const accounts = ['none', 'carried', 'proved', 'carried, and registered once more'] as const

  /** The answers to integrations for one address after shares, rejections, unknown outcomes and verdicts. */
  async function answers(account: (typeof accounts)[number]) {
    const { register, proveAs, share, fails, lose, expire, webhook, subjectOf } = identitySetup()
    const accountId = account === 'none' ? null : await register()
    if (accountId !== null && account === 'proved') await proveAs(accountId, email)
    if (account.endsWith('more')) await register()
    const said: unknown[] = []
    const shareBy = async (by: string) => said.push(await answerOf(share(by)))
    for (const fault of ['rejected', 'throttled', 'misconfigured'] as const) {
      fails(fault)
      await shareBy(shop)
    }
    fails(null)
    await lose('lost before')
    for (const by of [shop, otherShop]) await shareBy(by)
    await expire()
    for (const by of [shop, otherShop]) await shareBy(by)
    for (const given of [approved, rejected]) {
      await webhook(given, { name: `pi:${(await subjectOf()).id}:5`, key: JSON.stringify(given) })
      for (const by of [otherShop, shop]) await shareBy(by)
    }
    return JSON.stringify(said)
  }

  test('the bytes of every answer are the same', async () => {
    const [none, ...others] = await Promise.all(accounts.map(answers))
    expect(others).toEqual([none, none, none])
    for (const part of ['true', 'false', 'ERR_VERIFICATION_UNAVAILABLE', 'ERR_SHARE_TOKEN_REJECTED', 'GREEN'])
      expect(none).toContain(part)
  })
})

describe('interface 7, share endpoint', () => {
  test('the provider rejected the redemption: 422 with its message, and a fresh token is attached to the same account', async () => {
    const { share, prove, fails, has } = identitySetup()
    const accountId = await prove()
    fails('rejected')
    await expect(share()).rejects.toMatchObject({
      ...{ code: 'ERR_SHARE_TOKEN_REJECTED', providerMessage: 'Token has expired', formerReview: null },
    })
    fails(null)
    expect(await share()).toEqual({ ...begun, reused: true })
    expect(has(accountId)).toHaveLength(1)
  })

  test('the same request may be sent again after every error: no token is redeemed twice', async () => {
    for (const fault of ['rejected', 'throttled', 'misconfigured', 'lost before', 'lost after'] as const) {
      const { share, fails, expire, provider } = identitySetup()
      fails(fault)
      await expect(share(shop, 'token'), fault).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) })
      fails(null)
      await expire()
      expect(await share(shop, 'token'), fault).toMatchObject({ ...begun, reused: fault !== 'lost after' })
      expect(provider.redeemed, fault).toHaveLength(1)
    }
  })
})
