/** INTERFACE 4.2: placeholders are claimed once, whoever proves the address at the same time. */
import {
  createIdentity,
  type Identity,
  parseMasterKey,
  silentLogger,
  systemClock,
  systemIds,
  systemRandom,
} from '@payment-integration/core'
import type { Review } from '@payment-integration/core/ports'
import { describe, expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { createStore } from '../create-store.js'

const [shop, otherShop] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
const email = 'user@shop.example'
const masterKey = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')

onBothDatabases((empty) => {
  async function setup() {
    const opened = createStore(await empty())
    await opened.migrate()
    /** How often a transaction began, or began again. */
    const begun = { times: 0 }
    const store: typeof opened = {
      ...opened,
      transaction: (work) =>
        opened.transaction((tx) => {
          begun.times += 1
          return work(tx)
        }),
    }
    const answers = { areLost: false }
    const applicant = (externalUserId: string) => ({ applicantId: `of ${externalUserId}`, review: null })
    const identity = createIdentity({
      ...{ store, masterKey, clock: systemClock, random: systemRandom, ids: systemIds, logger: silentLogger },
      provider: {
        redeem: async ({ externalUserId }) =>
          answers.areLost
            ? { kind: 'unknown', reason: 'lost' }
            : { kind: 'redeemed', applicant: applicant(externalUserId) },
        find: async (externalUserId) =>
          answers.areLost
            ? { kind: 'unavailable', reason: 'lost' }
            : { kind: 'answer', value: applicant(externalUserId) },
        review: async () => ({ kind: 'unavailable', reason: 'not asked here' }),
      },
    })
    const share = (by = shop) => identity.share({ integrationAddress: by, email, shareToken: 'token' })
    return { store, begun, identity, share, answers, claims: await identity.claims() }
  }
  const won = (results: readonly PromiseSettledResult<unknown>[]) =>
    results.filter(({ status }) => status === 'fulfilled').length
  const times = (count: number) => Array.from({ length: count })
  /** Who has a verification, and of whom. */
  const donors = async (identity: Identity) =>
    (await identity.verifications({ limit: 100 }))
      .filter(({ donor }) => donor !== null)
      .map(({ accountId, donor }) => ({ accountId, donor }))

  test('a redemption that webhooks and the poll end while the address is proven is its owner’s, once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { store, identity, claims, share, answers } = await setup()
      answers.areLost = true
      await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
      answers.areLost = false
      const [attempt] = await identity.redemptions({ limit: 1 })
      const { accountId: begunAt = '', externalUserId = '' } = attempt ?? {}
      const { accountId } = await claims.register(email)
      const { code } = await claims.requestCode(email)
      await store.transaction((tx) => tx.verifications.change(begunAt, { askInMs: 0 }))
      const review: Review = { reviewStatus: 'pending', reviewAnswer: null, rejectType: null, rejectLabels: [] }
      const applicantId = `of ${externalUserId}`
      const news = (eventKey: string) =>
        identity.applyVerdict({ eventKey, applicantId, externalUserId, at: Date.now(), review })
      await Promise.all([
        ...[news('one'), identity.askDue(), claims.claimByCode(email, code, { accountId })],
        ...[news('two'), identity.askDue()],
      ])
      expect(await donors(identity), `round ${round}`).toEqual([{ accountId, donor: shop }])
      expect(await share()).toMatchObject({ reused: false })
    }
  })

  describe('a placeholder', () => {
    test('that ten attest at once is given once, and every other one is refused and logged', async () => {
      const { identity, claims, share } = await setup()
      await share()
      const attested = times(10).map((_, n) => claims.claimByAttestation(email, n % 2 === 0 ? shop : otherShop))
      expect(won(await Promise.allSettled(attested))).toBe(1)
      const reasons = (await identity.accountEvents({ limit: 100 })).map(({ reason }) => reason)
      expect(reasons).toHaveLength(10)
      expect(reasons.filter((reason) => reason === null)).toHaveLength(1)
      for (const reason of reasons) expect([null, 'not_donor', 'not_placeholder']).toContain(reason)
    })

    test('that is attested and proven by code at once ends with whoever is signed in, and its verification too', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { identity, claims, share } = await setup()
        await share()
        const { accountId } = await claims.register(email)
        const { code } = await claims.requestCode(email)
        await Promise.allSettled([
          claims.claimByAttestation(email, shop),
          claims.claimByCode(email, code, { accountId }),
          claims.claimByAttestation(email, shop),
        ])
        expect(await donors(identity), `round ${round}`).toEqual([{ accountId, donor: shop }])
        await expect(share(otherShop)).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
      }
    })
  })

  test('what is shared while the address is proven is with its owner, and is redeemed once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { identity, claims, share } = await setup()
      const { accountId } = await claims.register('somebody@shop.example')
      const { code } = await claims.requestCode(email)
      await Promise.all([share(), claims.claimByCode(email, code, { accountId })])
      expect(await donors(identity), `round ${round}`).toEqual([{ accountId, donor: shop }])
      expect((await share()).reused).toBe(false)
      const ended = await identity.redemptions({ limit: 10 })
      expect(ended.map(({ state }) => state)).toEqual(['attached'])
    }
  })

  describe('an account that only registered with an address', () => {
    const [third, fourth] = ['third@shop.example', 'fourth@shop.example']

    async function squatted() {
      const found = await setup()
      const { claims, identity } = found
      const { accountId: squatter } = await claims.register(email)
      const prove = async (address: string, accountId: string) => {
        const { code } = await claims.requestCode(address)
        await claims.claimByCode(address, code, { accountId })
      }
      /** Whose the applicant of the first share is. */
      const holder = async () => {
        const all = await identity.verifications({ limit: 100 })
        return all.find(({ applicantId }) => applicantId === `of pi:${squatter}:1`)?.accountId
      }
      return { ...found, squatter, prove, holder }
    }

    test('takes nothing along of what was shared for it to another one that it proves, and whoever proves it has that', async () => {
      const { claims, share, squatter, prove, holder, identity } = await squatted()
      await share()
      expect(await holder()).toBe(squatter)
      await prove(third, squatter)
      expect(await donors(identity)).not.toContainEqual({ accountId: squatter, donor: shop })
      const { accountId: owner } = await claims.register(email)
      await prove(email, owner)
      expect(await holder()).toBe(owner)
    })

    test('keeps nothing of it when somebody proves it who has a verification', async () => {
      const { claims, share, squatter, prove, holder, identity } = await squatted()
      const { accountId: owner } = await claims.register(fourth)
      await prove(fourth, owner)
      await identity.share({ integrationAddress: otherShop, email: fourth, shareToken: 'token' })
      await share()
      await prove(email, owner)
      expect([squatter, owner, undefined]).not.toContain(await holder())
      await prove(third, squatter)
      expect(await donors(identity)).not.toContainEqual({ accountId: squatter, donor: shop })
      expect(await donors(identity)).toContainEqual({ accountId: owner, donor: otherShop })
    })

    test('keeps nothing of it when both prove an address while it is shared', async () => {
      for (let round = 0; round < 10; round += 1) {
        const { claims, share, squatter, identity } = await squatted()
        const { accountId: owner } = await claims.register(email)
        const codes = { [third]: await claims.requestCode(third), [email]: await claims.requestCode(email) }
        const prove = (address: string, accountId: string) =>
          claims.claimByCode(address, codes[address]?.code ?? '', { accountId })
        await Promise.all([share(), prove(third, squatter), prove(email, owner)])
        expect(await donors(identity), `round ${round}`).toEqual([{ accountId: owner, donor: shop }])
      }
    })
  })

  test('two accounts that prove each other’s address at once swap them, and neither transaction begins again', async () => {
    const { identity, claims, begun } = await setup()
    const prove = async (address: string) => {
      const { code } = await claims.requestCode(address)
      return (accountId?: string) => claims.claimByCode(address, code, { accountId })
    }
    for (let round = 0; round < 20; round += 1) {
      const [one, two] = [`one${round}@shop.example`, `two${round}@shop.example`]
      const [first, second] = [await (await prove(one))(), await (await prove(two))()]
      for (const address of [one, two])
        await identity.share({ integrationAddress: shop, email: address, shareToken: 'token' })
      const [proveOne, proveTwo] = [await prove(one), await prove(two)]
      begun.times = 0
      await Promise.all([proveOne(second.accountId), proveTwo(first.accountId)])
      expect(begun.times, `round ${round}`).toBe(2)
    }
  })

  test('a code that ten use at once is taken once', async () => {
    const { claims } = await setup()
    const { code } = await claims.requestCode(email)
    expect(won(await Promise.allSettled(times(10).map(() => claims.claimByCode(email, code))))).toBe(1)
  })

  test('of wrong codes at once each is a try, and the right one comes too late after five', async () => {
    const { identity, claims } = await setup()
    const { code } = await claims.requestCode(email)
    expect(won(await Promise.allSettled(times(5).map(() => claims.claimByCode(email, 'wrong'))))).toBe(0)
    await expect(claims.claimByCode(email, code)).rejects.toMatchObject({ code: 'ERR_EMAIL_PROOF' })
    const reasons = (await identity.accountEvents({ limit: 6 })).map(({ reason }) => reason)
    expect(reasons).toEqual(['no_code', ...Array(5).fill('code_wrong')])
  })

  test('of ten accounts that prove an address one after the other the last one has what was shared', async () => {
    const { identity, claims, share } = await setup()
    await share()
    for (let n = 0; n < 10; n += 1) {
      const { accountId } = await claims.register(email)
      await claims.claimByCode(email, (await claims.requestCode(email)).code, { accountId })
      expect(await donors(identity)).toEqual([{ accountId, donor: shop }])
      expect((await share()).reused).toBe(false)
    }
  })

  test('a direct verification keeps every integration out, and stays with its account when the address goes', async () => {
    const { identity, claims, share } = await setup()
    const first = await claims.register(email)
    const review: Review = { reviewStatus: 'completed', reviewAnswer: 'GREEN', rejectType: null, rejectLabels: [] }
    const direct = { accountId: first.accountId, applicantId: 'own', review, at: 1_000 }
    expect(await identity.recordDirect(direct)).toBe('recorded')
    expect(await identity.recordDirect({ ...direct, at: 999 })).toBe('kept')
    await expect(share()).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
    const second = await claims.register(email)
    await claims.claimByCode(email, (await claims.requestCode(email)).code, { accountId: second.accountId })
    expect(await donors(identity)).toEqual([{ accountId: first.accountId, donor: 'self' }])
    expect((await share()).reused).toBe(true)
  })
})
