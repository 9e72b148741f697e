/** INTERFACE 4.2: what was shared for an address is its owner's, whoever learns how the redemption ended that was under way when somebody proved it. */
import { describe, expect, test } from 'vitest'
import { turns } from '../../test/support/manual-clock.js'
import { provingSetup } from '../../test/support/proving-setup.js'
import {
  approved,
  begun,
  email,
  otherShop,
  rejected,
  review,
  shareSetup,
  shop,
} from '../../test/support/share-setup.js'
import { steppedProcess } from '../../test/support/stepped-process.js'
import { claimLeaseMs } from './claim-times.js'
import { createRecordDirectVerification } from './direct-verification.js'

const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE' })
const [first, second] = ['pi:account-1:1', 'pi:account-1:2']

/** Sharing on the accounts of the store, and somebody who registers and proves the address. */
function setUp() {
  const setup = provingSetup()
  const { prove, proveAs, provider, share } = setup
  return {
    ...setup,
    proveAs: (accountId: string, address = email) => proveAs(accountId, address),
    /** Somebody registers and proves the address: it resolves to this account from then on. */
    prove: () => prove(email),
    /** A token was redeemed, or was not, and the answer was lost. */
    async lose(fault: 'lost before' | 'lost after') {
      provider.fault = (call) => (call === 'redeem' ? fault : 'lost before')
      await expect(share()).rejects.toThrow(unavailable)
      provider.fault = () => null
    },
  }
}
type Setup = ReturnType<typeof setUp>

/** Who learns that the first token was redeemed, and how. */
const finders: Readonly<Record<string, (setup: Setup, name: string) => Promise<unknown>>> = {
  'a webhook': ({ webhook }, name) => webhook(review('pending'), { name }),
  'the poll': ({ verdicts }) => verdicts.ask(),
  'an operator': ({ settle }, name) => settle({ externalUserId: name, applicantId: `applicant of ${name}` }),
}

describe.each(Object.entries(finders))('a redemption that %s ends', (_, end) => {
  test('goes to the account that proved the address since, once', async () => {
    const setup = setUp()
    const { lose, prove, of, share, provider, clock } = setup
    await lose('lost after')
    const owner = await prove()
    await clock.advance(claimLeaseMs)
    await end(setup, first)
    expect(await of(owner)).toMatchObject({ donor: shop, applicantId: `applicant of ${first}`, claim: null })
    expect(await of('account-1')).toMatchObject({ donor: null, applicantId: null, claim: null, attempts: 1 })
    await end(setup, first)
    expect(await share()).toMatchObject({ reused: false })
    expect(provider.redeemed).toHaveLength(1)
  })

  test('stays at its placeholder when the owner has a verification, and operators find it by the address', async () => {
    const setup = setUp()
    const { lose, prove, of, share, clock, holders } = setup
    await lose('lost after')
    const owner = await prove()
    expect(await share()).toMatchObject({ reused: true })
    await clock.advance(claimLeaseMs)
    await end(setup, first)
    expect(await of(owner)).toMatchObject({ donor: shop, applicantId: `applicant of pi:${owner}:1` })
    expect(await of('account-1')).toMatchObject({ donor: shop, applicantId: `applicant of ${first}`, claim: null })
    await end(setup, first)
    expect(await holders(`applicant of ${first}`)).toEqual(['account-1'])
  })

  test('stays where it was begun at a host that gives addresses away by itself', async () => {
    const { lose, clock, ...rest } = setUp()
    const hosted = shareSetup()
    const { provider, share, of } = hosted
    provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
    await expect(share()).rejects.toThrow(unavailable)
    provider.fault = () => null
    await hosted.clock.advance(claimLeaseMs)
    await end({ ...rest, lose, ...hosted }, first)
    expect(await of('account-1')).toMatchObject({ donor: shop, applicantId: `applicant of ${first}` })
  })
})

describe('a redemption that a request for another address of the account ends', () => {
  const other = 'second.user@example.com'

  /** The answer for the first address is lost, somebody else proves that one, and the account shares for another one that it proves. */
  async function endByOther(setup: Setup) {
    const { account, owner } = await takenFrom(setup)
    await setup.proveAs(account, other)
    await setup.clock.advance(claimLeaseMs)
    expect(await setup.shareFor(other)).toMatchObject({ reused: true })
    return { account, owner }
  }
  async function takenFrom({ prove, lose }: Setup) {
    const account = await prove()
    await lose('lost after')
    return { account, owner: await prove() }
  }

  test('stays with an account that gave its address up before anybody else proved that, and answers for both', async () => {
    const setup = setUp()
    const { share, of, shareFor, proveAs, prove, lose, clock, provider, holders } = setup
    const account = await prove()
    await lose('lost after')
    await proveAs(account, other)
    const owner = await prove()
    await clock.advance(claimLeaseMs)
    expect(await shareFor(other)).toMatchObject({ reused: false })
    const name = `pi:${account}:1`
    expect(await holders(`applicant of ${name}`)).toEqual([account])
    expect(await of(owner)).toMatchObject({ donor: null })
    expect(provider.redeemed.map(({ externalUserId }) => externalUserId)).toEqual([name])
    expect(await share()).toMatchObject({ reused: true })
  })

  test('goes to the account that proved its address, and each address is redeemed for once', async () => {
    const setup = setUp()
    const { of, share, shareFor, provider } = setup
    const { account, owner } = await endByOther(setup)
    // The second name was kept for what the look-up was to decide.
    const names = [1, 3].map((number) => `pi:${account}:${number}`)
    expect(await of(owner)).toMatchObject({ donor: shop, applicantId: `applicant of ${names[0]}`, claim: null })
    expect(await of(account)).toMatchObject({ donor: shop, applicantId: `applicant of ${names[1]}`, claim: null })
    for (const again of [share(), shareFor(other)]) expect(await again).toMatchObject({ reused: false })
    expect(provider.redeemed.map(({ externalUserId }) => externalUserId)).toEqual(names)
  })

  test('stays when the owner has a verification, as its account had proved the address, and answers for both', async () => {
    const setup = setUp()
    const { share, of, shareFor, proveAs, clock, provider, holders } = setup
    const { account, owner } = await takenFrom(setup)
    expect(await share()).toMatchObject({ reused: true })
    await proveAs(account, other)
    await clock.advance(claimLeaseMs)
    expect(await shareFor(other)).toMatchObject({ reused: false })
    const names = [account, owner].map((accountId) => `pi:${accountId}:1`)
    expect(provider.redeemed.map(({ externalUserId }) => externalUserId)).toEqual(names)
    expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${names[1]}` })
    expect(await of(account)).toMatchObject({ applicantId: `applicant of ${names[0]}`, claim: null })
    expect(await holders(`applicant of ${names[0]}`)).toEqual([account])
  })

  test('keeps from nobody what was shared for the other one, where that is proven during the look-up', async () => {
    const setup = setUp()
    const { share, shareFor, webhook, provider, verdicts, clock, claims, proveAs, of, redemptions } = setup
    const account = await proveAs((await claims.register(email)).accountId)
    provider.fault = () => 'lost before'
    await expect(share(otherShop)).rejects.toThrow(unavailable)
    provider.fault = () => null
    await clock.advance(claimLeaseMs)
    await verdicts.ask()
    await shareFor(other)
    const [shared] = provider.redeemed
    await webhook(rejected, { name: shared?.externalUserId ?? '' })
    await proveAs(account, other)
    expect(await of(account)).toMatchObject({ donor: shop, review: rejected })
    // The provider shows late what it had redeemed all the same.
    const late = { applicantId: 'late', review: null }
    provider.find = async () => {
      taker ||= await proveAs((await claims.register(other)).accountId, other)
      return { kind: 'answer', value: late }
    }
    let taker = ''
    provider.fault = () => 'rejected'
    await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
    expect(await redemptions()).toContainEqual([`pi:${account}:1`, otherShop, 'attached'])
    expect(await of(taker)).toMatchObject({ donor: shop, applicantId: shared?.applicantId, review: rejected })
    expect(await of(account)).toMatchObject({ donor: otherShop, applicantId: 'late', claim: null })
  })
})

describe('what was shared before a retry of which nothing came', () => {
  test.each([
    ['the poll', ({ verdicts }: Setup) => verdicts.ask()],
    ['an operator', ({ settle }: Setup) => settle({ externalUserId: second, applicantId: null })],
  ])('goes to the account that proved the address during it, once %s ended it', async (_, end) => {
    const setup = setUp()
    const { lose, prove, of, share, webhook, provider, clock } = setup
    await share()
    provider.reviews.set(`applicant of ${first}`, rejected)
    await webhook(rejected)
    await lose('lost before')
    const owner = await prove()
    expect(await of(owner)).toMatchObject({ donor: null })
    await clock.advance(claimLeaseMs)
    await end(setup)
    expect(await of(owner)).toMatchObject({ donor: shop, applicantId: `applicant of ${first}`, review: rejected })
    expect(await of('account-1')).toMatchObject({ donor: null, claim: null, attempts: 2 })
    expect(await share()).toMatchObject({ reused: true })
    expect(provider.redeemed.map(({ externalUserId }) => externalUserId)).toEqual([first, `pi:${owner}:1`])
  })

  test.each(['before the claim lapsed', 'after the claim lapsed'])(
    'goes along when its process died at a look-up, and the address was proven %s',
    async (when) => {
      const setup = setUp()
      const { lose, prove, of, share, verdicts, webhook, provider, clock } = setup
      await share()
      provider.reviews.set(`applicant of ${first}`, rejected)
      await webhook(rejected)
      await lose('lost after')
      await clock.advance(claimLeaseMs)
      let asks = 0
      provider.pause = (call) => (call === 'find' && ++asks === 1 ? new Promise(() => undefined) : Promise.resolve())
      void share()
      await turns()
      // Its claim outlives what it was made for: the webhook ends that.
      await webhook(review('pending'), { name: second })
      const prover = when === 'before the claim lapsed' ? await prove() : ''
      await clock.advance(claimLeaseMs)
      const owner = prover || (await prove())
      await clock.advance(60 * 60_000)
      await verdicts.ask()
      expect(await of(owner)).toMatchObject({ donor: shop, applicantId: `applicant of ${second}`, claim: null })
      expect(await share()).toMatchObject({ reused: false })
      expect(provider.redeemed).toHaveLength(2)
    },
  )
})

test('a request whose applicant a webhook attached, and what the user did directly displaced, is told nothing of that', async () => {
  const { share, provider, webhook, store, clock, of } = setUp()
  const recordDirect = createRecordDirectVerification({ store, clock })
  provider.pause = async (call, half) => {
    if (call !== 'redeem' || half !== 'answer') return
    provider.pause = async () => undefined
    await webhook(begun, { name: first })
    const direct = { accountId: 'account-1', applicantId: 'own', review: approved, at: clock.now() }
    expect(await recordDirect(direct)).toBe('recorded')
  }
  await expect(share()).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
  expect(await of('account-1')).toMatchObject({ donor: 'self', applicantId: 'own' })
})

test('an old attempt that ends takes nothing along that was shared for another address since', async () => {
  const other = 'second.user@example.com'
  const { lose, claims, proveAs, of, shareFor, verdicts, clock } = setUp()
  const { accountId } = await claims.register(email)
  await lose('lost before')
  await clock.advance(claimLeaseMs)
  await verdicts.ask()
  await proveAs(accountId, other)
  await shareFor(other)
  const { accountId: newcomer } = await claims.register(email)
  await proveAs(newcomer)
  await clock.advance(60 * 60_000)
  await verdicts.ask()
  expect(await of(accountId)).toMatchObject({ donor: shop, claim: null })
  expect(await of(newcomer)).toMatchObject({ donor: null })
})

describe('a share that stops at any of its await points while somebody proves the address', () => {
  test.each([
    ['a webhook', null],
    ['the poll', null],
    ['the poll', 'lost after'],
    ['nobody', 'lost after'],
  ] as const)('ends at the owner, and %s meanwhile redeems nothing twice (%s)', async (who, fault) => {
    for (let point = 1; ; point += 1) {
      const setup = setUp()
      const { prove, of, provider, webhook, verdicts, clock } = setup
      const frozen = steppedProcess(setup, point)
      provider.fault = (call) => (call === 'redeem' ? fault : null)
      const shared = frozen.share({ integrationAddress: shop, email, shareToken: 'frozen' }).catch(() => null)
      await turns()
      provider.fault = () => null
      const where = `point ${point}, ${frozen.stoppedAt()}`
      if (frozen.stoppedAt() === null) {
        expect(point, 'await points').toBeGreaterThan(8)
        return
      }
      const owner = await prove()
      const [landed] = provider.redeemed
      if (who === 'a webhook' && landed !== undefined) await webhook(begun, { name: landed.externalUserId })
      await clock.advance(claimLeaseMs)
      if (who === 'the poll') await verdicts.ask()
      frozen.thaw()
      await shared
      await clock.advance(claimLeaseMs)
      await verdicts.ask()
      const [redeemed] = provider.redeemed
      expect(provider.redeemed.length, where).toBeLessThanOrEqual(1)
      const applicantId = redeemed?.applicantId ?? null
      expect(await of(owner), where).toMatchObject({ applicantId, claim: null })
      const begunAt = redeemed?.externalUserId.split(':')[1] ?? 'account-1'
      if (begunAt !== owner) expect(await of('account-1'), where).toMatchObject({ applicantId: null, claim: null })
    }
  })
})
