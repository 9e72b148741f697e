/** INTERFACE 4.2: what is heard late tells nobody of somebody else's verification, and displaces none that came along with an address. */
import { describe, expect, test } from 'vitest'
import { carriedSetup as setUp } from '../../test/support/carried-setup.js'
import { approved, begun, email, otherShop, rejected, shop } from '../../test/support/share-setup.js'
import { claimLeaseMs } from './claim-times.js'

const other = 'second.user@example.com'
const third = 'third.user@example.com'

describe('an answer that arrives after its applicant was displaced tells its own review', () => {
  test('and not that of another address of the account', async () => {
    const { share, shareFor, webhook, during, proveAs, prove, squatter, name, of } = await setUp()
    during('redeem', async () => {
      await webhook(rejected, { name })
      await proveAs(squatter, other)
      await shareFor(other)
      await webhook(approved, { name: `pi:${squatter}:2`, key: 'second' })
      await prove(email)
      expect(await share()).toMatchObject({ reused: true })
    })
    expect(await share()).toEqual({ ...begun, reused: true })
    expect(await of(squatter)).toMatchObject({ review: approved })
  })

  test('also where another integration shared for another address there', async () => {
    const { share, shareFor, webhook, during, proveAs, prove, squatter, name } = await setUp()
    during('redeem', async () => {
      await webhook(rejected, { name })
      await proveAs(squatter, other)
      await shareFor(other, otherShop)
      await prove(email)
      expect(await share()).toMatchObject({ reused: true })
    })
    expect(await share()).toEqual({ ...begun, reused: true })
  })
  test('where the account has nothing any more', async () => {
    const { share, webhook, during, proveAs, prove, squatter, name } = await setUp()
    during('redeem', async () => {
      await webhook(rejected, { name })
      await proveAs(squatter, other)
      await prove(email)
      await share()
    })
    expect(await share()).toEqual({ ...begun, reused: true })
  })
})

test('an answer of an older attempt does not tell of what was shared for another address since', async () => {
  const { share, shareFor, during, proveAs, squatter, name, clock, verdicts, provider, webhook, redemptions, of } =
    await setUp()
  const { find } = provider
  during('redeem', async () => {
    provider.find = async () => ({ kind: 'answer', value: null })
    await clock.advance(claimLeaseMs + 1)
    await verdicts.ask()
    expect(await redemptions()).toEqual([[name, shop, 'absent']])
    await proveAs(squatter, other)
    expect(await shareFor(other)).toMatchObject({ reused: true })
    provider.find = find
    await webhook(approved, { name: `pi:${squatter}:2` })
  })
  expect(await share()).toEqual({ ...begun, reused: true })
  // It waits for whoever proves the first address.
  expect((await redemptions())[0]).toEqual([name, shop, 'attached'])
  expect(await of(squatter)).toMatchObject({ applicantId: `applicant of pi:${squatter}:2`, review: approved })
  expect(await share()).toEqual({ ...begun, reused: false })
})

test('nor is it refused for what another integration shared for another address since', async () => {
  const { share, shareFor, during, proveAs, squatter, clock, verdicts, provider } = await setUp()
  const { find } = provider
  during('redeem', async () => {
    provider.find = async () => ({ kind: 'answer', value: null })
    await clock.advance(claimLeaseMs + 1)
    await verdicts.ask()
    await proveAs(squatter, other)
    expect(await shareFor(other, otherShop)).toMatchObject({ reused: true })
    provider.find = find
  })
  expect(await share()).toEqual({ ...begun, reused: true })
})

describe('an applicant that the provider shows when another address of its account is redeemed for', () => {
  /** A token whose answer is lost, which the provider does not show in time, and whose account proves another address. */
  async function setUpLate() {
    const setup = await setUp()
    const { share, provider, clock, verdicts, proveAs, squatter, redemptions } = setup
    provider.fault = () => 'lost before'
    await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    provider.fault = () => null
    await clock.advance(claimLeaseMs + 1)
    await verdicts.ask()
    expect(await redemptions()).toEqual([[setup.name, shop, 'absent']])
    await proveAs(squatter, other)
    return setup
  }

  test.each(['rejected', null])('waits for whoever proves its address: the redemption is %s', async (fault) => {
    const { during, webhook, name, provider, shareFor, of, prove, squatter } = await setUpLate()
    provider.fault = (call) => (call === 'redeem' ? fault : null) as ReturnType<typeof provider.fault>
    during('redeem', async () => {
      await webhook(approved, { name })
      expect(await of(squatter)).toMatchObject({ donor: null, applicantId: null, claim: { by: shop } })
    })
    if (fault === null) expect(await shareFor(other)).toEqual({ ...begun, reused: true })
    else await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
    const applicantId = fault === null ? `applicant of pi:${squatter}:2` : null
    expect(await of(squatter)).toMatchObject({ applicantId, claim: null })
    expect(await of(await prove(email))).toMatchObject({ applicantId: `applicant of ${name}`, review: approved })
  })

  test('is not in the way of another integration', async () => {
    const { during, webhook, name, shareFor, of, squatter } = await setUpLate()
    during('redeem', () => webhook(approved, { name }))
    expect(await shareFor(other, otherShop)).toEqual({ ...begun, reused: true })
    expect(await of(squatter)).toMatchObject({ donor: otherShop, applicantId: `applicant of pi:${squatter}:2` })
  })
})

test('an applicant that is shown late does not displace one that came along with an address', async () => {
  const { share, shareFor, provider, clock, verdicts, claims, webhook, name, proveAs, of } = await setUp()
  await share()
  await webhook(approved, { name })
  const { accountId } = await claims.register(other)
  provider.fault = () => 'lost before'
  await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  provider.fault = () => null
  await clock.advance(claimLeaseMs + 1)
  await verdicts.ask()
  await proveAs(accountId, email)
  await webhook(begun, { name: `pi:${accountId}:1`, key: 'late' })
  expect(await of(accountId)).toMatchObject({ applicantId: `applicant of ${name}`, review: approved })
  // It waits for whoever proves its own address.
  expect(await shareFor(other)).toEqual({ ...begun, reused: false })
})

test('an answer that finds its applicant at a third account waits for that in the order of the accounts', async () => {
  const { store, shareOn, proveAs, claims, squatter, webhook, name, during } = await setUp()
  const { accountId: taker } = await claims.register(third)
  const locked: string[][] = []
  const transaction: typeof store.transaction = (work) =>
    store.transaction((tx) => {
      const own: string[] = []
      locked.push(own)
      const { verifications } = tx
      const watched: typeof verifications = {
        ...verifications,
        lock(accountId) {
          own.push(accountId)
          return verifications.lock(accountId)
        },
        lockByApplicant: () => Promise.reject(new Error('it waits for whoever has the applicant')),
      }
      return work({ ...tx, verifications: watched })
    })
  during('redeem', async () => {
    await webhook(approved, { name })
    await proveAs(taker, email)
    await proveAs(taker, third)
    await proveAs(squatter, other)
    locked.length = 0
  })
  const answer = await shareOn({ transaction })({ integrationAddress: shop, email, shareToken: 'token' })
  expect(answer).toEqual({ ...approved, reused: true })
  for (const own of locked) expect([...new Set(own)]).toEqual([...new Set(own)].sort())
  expect([...new Set(locked.flat())].sort()).toEqual([squatter, taker].sort())
})
