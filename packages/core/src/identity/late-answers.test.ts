/** INTERFACE 4.2: what is heard late tells nobody of somebody else's verification, and displaces none that came along with an address. */
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { approved, begun, email, otherShop, rejected, shareSetup, shop } from '../../test/support/share-setup.js'
import { createAccountClaims } from './claim-account.js'
import { claimLeaseMs } from './claim-times.js'
import { createEmailCodes } from './email-codes.js'

const other = 'second.user@example.com'
const third = 'third.user@example.com'

/** Sharing on the accounts of the store, and an account that carries the address without a proof. */
async function setUp() {
  const setup = shareSetup({ holdsAddresses: true })
  const { store, emails, clock, provider } = setup
  let made = 0
  const codes = createEmailCodes(Buffer.alloc(32, 1), seededRandom('codes'))
  const claims = createAccountClaims({ store, emails, codes, clock, ids: { next: () => `user-${++made}` } })
  const proveAs = async (accountId: string, address: string) => {
    await claims.claimByCode(address, (await claims.requestCode(address)).code, { accountId })
    return accountId
  }
  const { accountId: squatter } = await claims.register(email)
  return {
    ...{ ...setup, claims, proveAs, squatter, name: `pi:${squatter}:1` },
    prove: async (address: string) => proveAs((await claims.register(address)).accountId, address),
    /** Works while the answer of a redemption is on its way back, once. */
    meanwhile(work: () => Promise<unknown>) {
      provider.pause = async (call, half) => {
        if (call !== 'redeem' || half !== 'answer') return
        provider.pause = async () => undefined
        await work()
      }
    },
    /** Where an applicant is. */
    holders: (applicantId: string) =>
      [...store.committed().verifications.values()]
        .filter((each) => each.applicantId === applicantId)
        .map(({ accountId }) => accountId),
  }
}

describe('an answer that arrives after its applicant was displaced tells its own review', () => {
  test('and not that of another address of the account', async () => {
    const { share, shareFor, webhook, meanwhile, proveAs, prove, squatter, name, of } = await setUp()
    meanwhile(async () => {
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

  test('where the account has nothing any more', async () => {
    const { share, webhook, meanwhile, proveAs, prove, squatter, name } = await setUp()
    meanwhile(async () => {
      await webhook(rejected, { name })
      await proveAs(squatter, other)
      await prove(email)
      await share()
    })
    expect(await share()).toEqual({ ...begun, reused: true })
  })
})

test('an answer of an older attempt does not tell of what was shared for another address since', async () => {
  const { share, shareFor, meanwhile, proveAs, squatter, name, clock, verdicts, provider, webhook, redemptions } =
    await setUp()
  const { find } = provider
  meanwhile(async () => {
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
  expect((await redemptions())[0]).toEqual([name, shop, 'surplus'])
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
    const { meanwhile, webhook, name, provider, shareFor, of, prove, squatter } = await setUpLate()
    provider.fault = (call) => (call === 'redeem' ? fault : null) as ReturnType<typeof provider.fault>
    meanwhile(async () => {
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
    const { meanwhile, webhook, name, shareFor, of, squatter } = await setUpLate()
    meanwhile(() => webhook(approved, { name }))
    expect(await shareFor(other, otherShop)).toEqual({ ...begun, reused: true })
    expect(await of(squatter)).toMatchObject({ donor: otherShop, applicantId: `applicant of pi:${squatter}:2` })
  })
})

test('an applicant that is shown late does not displace one that came along with an address', async () => {
  const { share, shareFor, provider, clock, verdicts, claims, webhook, name, proveAs, of, holders } = await setUp()
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
  expect(holders(`applicant of pi:${accountId}:1`)).toEqual([])
})

test('an answer that finds its applicant at a third account waits for nobody there', async () => {
  const { store, shareOn, proveAs, claims, squatter, webhook, name, meanwhile } = await setUp()
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
  meanwhile(async () => {
    await webhook(approved, { name })
    await proveAs(taker, email)
    await proveAs(taker, third)
    await proveAs(squatter, other)
    locked.length = 0
  })
  const answer = await shareOn({ transaction })({ integrationAddress: shop, email, shareToken: 'token' })
  expect(answer).toEqual({ ...approved, reused: true })
  expect(locked.flat()).toContain(squatter)
  expect(locked.flat()).not.toContain(taker)
})
