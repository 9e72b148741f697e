/** docs/interface.md 4.2: proofs, shares, webhooks and polls of one address at the same time. */
import type { Review } from '@payment-integration/core/ports'
import { describe, expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/both-databases.js'
import { email, identityOn, otherShop, shop } from '../../test/support/identity-setup.js'

const third = 'third@shop.example'
const approved: Review = { reviewStatus: 'completed', reviewAnswer: 'GREEN', rejectType: null, rejectLabels: [] }

onBothDatabases((empty) => {
  const setup = async () => identityOn(await empty())
  const won = (results: readonly PromiseSettledResult<unknown>[]) =>
    results.filter(({ status }) => status === 'fulfilled').length
  const times = (count: number) => Array.from({ length: count })

  test('an unknown redemption found by webhook and poll during a proof is attached to the owner once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { store, identity, accounts, register, getCode, share, answers, donated } = await setup()
      answers.areLost = true
      await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
      answers.areLost = false
      const [{ externalUserId = '' } = {}] = await identity.redemptions({ limit: 1 })
      const [accountId, code] = [await register(), await getCode(email)]
      await store.transaction((tx) => tx.identity.changeRedemption(externalUserId, { lookUpInMs: 0 }))
      const pending: Review = { ...approved, reviewStatus: 'pending', reviewAnswer: null }
      const verdict = { applicantId: `of ${externalUserId}`, externalUserId, at: Date.now(), review: pending }
      await Promise.all([
        ...[identity.applyVerdict({ ...verdict, eventKey: 'one' }), identity.pollDue()],
        accounts.proveByCode(email, code, { accountId }),
        ...[identity.applyVerdict({ ...verdict, eventKey: 'two' }), identity.pollDue()],
      ])
      expect(await donated(), `round ${round}`).toEqual([{ accountId, donor: shop }])
      expect(await share()).toMatchObject({ reused: false })
    }
  })

  describe('a placeholder', () => {
    test('that ten attest at once is given once, and every other attestation is rejected and logged', async () => {
      const { identity, accounts, share } = await setup()
      await share()
      const attested = times(10).map((_, n) => accounts.proveByAttestation(email, n % 2 === 0 ? shop : otherShop))
      expect(won(await Promise.allSettled(attested))).toBe(1)
      const reasons = (await identity.accountEvents({ limit: 100 })).map(({ reason }) => reason)
      expect(reasons).toHaveLength(10)
      expect(reasons.filter((reason) => reason === null)).toHaveLength(1)
      for (const reason of reasons) expect([null, 'not_donor', 'not_placeholder']).toContain(reason)
    })

    test('that is attested and proved by code at once goes to the first of the two, and the code then proves the address', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { identity, accounts, register, getCode, share, donated } = await setup()
        await share()
        const [accountId, code] = [await register(), await getCode(email)]
        const [attested] = await Promise.allSettled([
          accounts.proveByAttestation(email, shop),
          accounts.proveByCode(email, code, { accountId }),
          accounts.proveByAttestation(email, shop),
        ])
        const isAttested = attested?.status === 'fulfilled'
        const [first] = await donated()
        expect(await donated(), `round ${round}`).toHaveLength(1)
        expect(first, `round ${round}`).toMatchObject({ donor: shop, accountId: expect.any(String) })
        if (!isAttested && first?.accountId === accountId)
          await expect(share(otherShop)).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
        const emailKey = await identity.emailKey(email)
        const [open] = (await identity.subjects({ emailKey, limit: 10 })).filter(({ closed }) => !closed)
        expect(open, `round ${round}`).toMatchObject({ accountId, proved: true })
      }
    })
  })

  test('a share during a proof is redeemed once, for the owner', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { identity, accounts, register, getCode, share, donated } = await setup()
      const [accountId, code] = [await register('somebody@shop.example'), await getCode(email)]
      await Promise.all([share(), accounts.proveByCode(email, code, { accountId })])
      expect(await donated(), `round ${round}`).toEqual([{ accountId, donor: shop }])
      expect((await share()).reused).toBe(false)
      expect((await identity.redemptions({ limit: 10 })).map(({ state }) => state)).toEqual(['attached'])
    }
  })

  test('an account that only registered loses the address to its owner, also while it proves another one', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { accounts, register, getCode, share, donated } = await setup()
      const [squatter, owner] = [await register(), await register()]
      const [code, thirdCode] = [await getCode(email), await getCode(third)]
      await Promise.all([
        share(),
        accounts.proveByCode(third, thirdCode, { accountId: squatter }),
        accounts.proveByCode(email, code, { accountId: owner }),
      ])
      expect(await donated(), `round ${round}`).toEqual([{ accountId: owner, donor: shop }])
    }
  })

  test('two accounts that prove each other’s addresses at once swap them without a retried transaction', async () => {
    const { accounts, identity, conflicts, register, prove, getCode, share } = await setup()
    for (let round = 0; round < 10; round += 1) {
      const [one, two] = [`one${round}@shop.example`, `two${round}@shop.example`]
      const [first, second] = [await register(one), await register(two)]
      await prove(one, first)
      await prove(two, second)
      for (const address of [one, two]) await share(shop, address)
      const codes = [await getCode(one), await getCode(two)] as const
      await Promise.all([
        accounts.proveByCode(one, codes[0], { accountId: second }),
        accounts.proveByCode(two, codes[1], { accountId: first }),
      ])
      for (const [address, accountId] of [
        [one, second],
        [two, first],
      ] as const) {
        const emailKey = await identity.emailKey(address)
        const [open] = (await identity.subjects({ emailKey, limit: 10 })).filter(({ closed }) => !closed)
        expect(open, `round ${round}`).toMatchObject({ accountId, proved: true, donor: null })
      }
    }
    expect(conflicts.count).toBe(0)
  })

  test('a code used ten times at once is accepted once', async () => {
    const { accounts, getCode } = await setup()
    const code = await getCode(email)
    expect(won(await Promise.allSettled(times(10).map(() => accounts.proveByCode(email, code))))).toBe(1)
  })

  test('each of several wrong codes at once is an attempt; after five the right code is rejected', async () => {
    const { identity, accounts, getCode } = await setup()
    const code = await getCode(email)
    expect(won(await Promise.allSettled(times(5).map(() => accounts.proveByCode(email, 'wrong'))))).toBe(0)
    await expect(accounts.proveByCode(email, code)).rejects.toMatchObject({ code: 'ERR_EMAIL_PROOF' })
    const reasons = (await identity.accountEvents({ limit: 6 })).map(({ reason }) => reason)
    expect(reasons).toEqual(['no_code', ...Array(5).fill('code_wrong')])
  })

  test('a mailbox proven by ten accounts in turn shows none of them an earlier share', async () => {
    const { register, prove, share, donated } = await setup()
    const owners: string[] = []
    for (let n = 0; n < 10; n += 1) {
      owners.push(await register())
      await prove(email, owners[n] ?? '')
      expect((await share(n % 2 === 0 ? shop : otherShop)).reused, `owner ${n}`).toBe(true)
      expect((await share(n % 2 === 0 ? shop : otherShop)).reused, `owner ${n}`).toBe(false)
    }
    const all = (await donated()).map(({ accountId }) => accountId)
    expect(all.sort()).toEqual(owners.sort())
  })

  test('a direct verification answers 409 to every integration, and stays with its account without the address', async () => {
    const { identity, register, prove, share, donated } = await setup()
    const first = await register()
    const direct = { accountId: first, applicantId: 'own', review: approved, at: 1_000 }
    expect(await identity.recordDirect(direct)).toBe('recorded')
    expect(await identity.recordDirect({ ...direct, at: 999 })).toBe('kept')
    await expect(share()).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
    const second = await register()
    await prove(email, second)
    expect((await share()).reused).toBe(true)
    expect(await donated()).toEqual([{ accountId: second, donor: shop }])
    const own = (await identity.subjects({ accountId: first, limit: 10 })).filter(({ emailKey }) => emailKey === null)
    expect(own).toMatchObject([{ applicantId: 'own', review: approved }])
  })
})
