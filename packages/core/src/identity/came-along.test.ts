/** INTERFACE 3, 4.2: a verification that came along with its address is shared anew after a rejection as any other is: one token, one redemption. */
import { describe, expect, test } from 'vitest'
import { turns } from '../../test/support/manual-clock.js'
import { provingSetup } from '../../test/support/proving-setup.js'
import { approved, begun, email, rejected, review, shop } from '../../test/support/share-setup.js'
import { steppedProcess } from '../../test/support/stepped-process.js'
import { claimLeaseMs } from './claim-times.js'

const other = 'second.user@example.com'

/** The verification of a placeholder was rejected, and its user registered and proved the address: it came along. */
async function cameAlong(sinceMs = 0) {
  const setup = provingSetup()
  const { share, webhook, provider, prove, of } = setup
  await share(shop, 'before')
  provider.reviews.set('applicant of pi:account-1:1', rejected)
  await webhook(rejected)
  const owner = await prove(email)
  expect(await of(owner)).toMatchObject({ donor: shop, attempt: null, review: rejected })
  await setup.clock.advance(sinceMs)
  return { ...setup, owner }
}

/** Then a retry, whose answer is lost. */
async function retryLost(findsByName = true) {
  const setup = await cameAlong()
  const { share, provider, clock, owner } = setup
  provider.findsByName = findsByName
  provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
  await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  provider.fault = () => null
  await clock.advance(claimLeaseMs)
  expect(provider.redeemed).toHaveLength(2)
  return { ...setup, retry: `pi:${owner}:1` }
}

describe('a retry after a rejection that came along, whose answer is lost', () => {
  test('is found by the poll', async () => {
    const { verdicts, of, owner, retry } = await retryLost()
    await verdicts.ask()
    expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${retry}`, claim: null })
  })
  test('is found by the next request, and no second token is redeemed', async () => {
    const { share, of, owner, retry, provider, redemptions } = await retryLost()
    const answer = await share()
    expect(await redemptions()).toContainEqual([retry, shop, 'attached'])
    expect(provider.redeemed).toHaveLength(2)
    expect(answer).toMatchObject({ reused: false })
    expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${retry}`, claim: null })
  })
  test('is attached by a webhook that comes while a request looks', async () => {
    const { share, of, owner, retry, provider, during, webhook, redemptions } = await retryLost()
    during('find', () => webhook(approved, { name: retry, key: 'k' }))
    const answer = await share()
    expect(await redemptions()).toContainEqual([retry, shop, 'attached'])
    expect(provider.redeemed).toHaveLength(2)
    expect(answer).toMatchObject({ reused: false })
    expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${retry}`, review: approved })
  })
  test('is found by the poll after a look-up that failed', async () => {
    const { share, of, owner, retry, provider, verdicts, clock, redemptions } = await retryLost()
    provider.fault = () => 'throttled'
    await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    provider.fault = () => null
    await clock.advance(60 * 60_000)
    await verdicts.ask()
    expect(await redemptions()).toContainEqual([retry, shop, 'attached'])
    expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${retry}` })
  })
  test('is settled by an operator where names are not found', async () => {
    const { share, of, owner, retry, provider, settle, redemptions } = await retryLost(false)
    await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    expect(await redemptions()).toContainEqual([retry, shop, 'unresolved'])
    expect(await settle({ externalUserId: retry, applicantId: `applicant of ${retry}` })).toBe('attached')
    expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${retry}` })
    expect(provider.redeemed).toHaveLength(2)
  })
})

/** A token is not redeemed, and the answer is lost. */
async function lostBefore(
  { provider }: Pick<ReturnType<typeof provingSetup>, 'provider'>,
  sharing: () => Promise<unknown>,
) {
  provider.fault = (call) => (call === 'redeem' ? 'lost before' : null)
  await expect(sharing()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  provider.fault = () => null
}

test('a retry that is found once its address was taken leaves alone what stays, which was approved since', async () => {
  const { share, shareFor, provider, clock, prove, proveAs, verdicts, of, webhook } = provingSetup()
  const account = await prove(email)
  await share()
  const name = `pi:${account}:1`
  provider.reviews.set(`applicant of ${name}`, rejected)
  await webhook(rejected, { name })
  await proveAs(account, other)
  provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
  await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  provider.fault = () => null
  await clock.advance(1_000)
  provider.reviews.set(`applicant of ${name}`, approved)
  await webhook(approved, { name, key: 'turned' })
  const owner = await prove(other)
  await clock.advance(claimLeaseMs)
  await verdicts.ask()
  expect(await of(account)).toMatchObject({ applicantId: `applicant of ${name}`, review: approved, claim: null })
  expect(await of(owner)).toMatchObject({ donor: shop, applicantId: `applicant of pi:${account}:2`, claim: null })
})

test.each([true, false])(
  'a name that nobody had is looked up for a day, also where what was there went along: %s',
  async (goes) => {
    const { share, provider, clock, prove, verdicts, webhook, redemptions } = provingSetup()
    await share()
    provider.reviews.set('applicant of pi:account-1:1', rejected)
    await webhook(rejected)
    await lostBefore({ provider }, share)
    await clock.advance(claimLeaseMs)
    await verdicts.ask()
    expect((await redemptions()).map(([, , state]) => state)).toEqual(['attached', 'absent'])
    if (goes) await prove(email)
    await provider.redeem({ shareToken: 'late', externalUserId: 'pi:account-1:2', sendBy: Number.POSITIVE_INFINITY })
    await clock.advance(60 * 60_000)
    await verdicts.ask()
    expect((await redemptions()).map(([, , state]) => state)).not.toContain('absent')
  },
)

const finders = ['a request', 'the poll, and a request', 'a webhook, and a request'] as const
const ends = ['killed', 'thawed after it'] as const
const faults = [null, 'lost after'] as const
test.each(finders.flatMap((who) => ends.flatMap((end) => faults.map((fault) => [who, end, fault] as const))))(
  'it is redeemed once, at whatever point %s takes it over, its process %s, and the answer of the provider: %s',
  async (who, end, fault) => {
    const wrong: string[] = []
    let point = 0
    for (;;) {
      const setup = await cameAlong()
      const { provider, clock, verdicts, share, webhook, of, owner } = setup
      const process = steppedProcess(setup, point + 1)
      provider.fault = (call) => (call === 'redeem' ? fault : null)
      const work = process.share({ integrationAddress: shop, email, shareToken: 'dying' }).catch(() => undefined)
      await turns()
      provider.fault = () => null
      if (process.stoppedAt() === null) break
      point += 1
      await clock.advance(claimLeaseMs)
      if (who.startsWith('the poll')) await verdicts.ask()
      const newest = provider.redeemed.at(-1)
      if (who.startsWith('a webhook') && newest?.shareToken === 'dying')
        await webhook(review('pending'), { name: newest.externalUserId, key: 'news' })
      await share(shop, 'healthy').catch(() => undefined)
      if (end !== 'killed') {
        process.thaw()
        await work
      }
      await clock.advance(claimLeaseMs)
      await verdicts.ask()
      await share(shop, 'healthy 2').catch(() => undefined)
      const last = provider.redeemed.at(-1)
      const { applicantId, claim } = await of(owner)
      if (provider.redeemed.length !== 2 || applicantId !== last?.applicantId || claim !== null)
        wrong.push(
          `point ${point}, ${process.stoppedAt()}: ${provider.redeemed.map(({ shareToken }) => shareToken)}, ${applicantId}`,
        )
    }
    expect(wrong).toEqual([])
    expect(point).toBeGreaterThan(6)
  },
)

test('an open attempt of before does not displace what came along approved', async () => {
  const { share, shareFor, provider, clock, webhook, verdicts, of, prove, proveAs } = provingSetup()
  const p = await prove(email)
  provider.fault = () => 'lost before'
  await expect(share()).rejects.toThrow()
  provider.fault = () => null
  await clock.advance(claimLeaseMs + 1)
  await verdicts.ask()
  provider.fault = (call) => (call === 'redeem' ? 'lost after' : null)
  let finds = 0
  const { find } = provider
  provider.find = async (name, by) => (++finds > 1 ? { kind: 'unavailable', reason: 'x' } : find(name, by))
  await expect(share()).rejects.toThrow()
  provider.find = find
  provider.fault = () => null
  await clock.advance(claimLeaseMs + 1)
  await webhook(begun, { name: `pi:${p}:1` })
  expect(await of(p)).toMatchObject({ applicantId: `applicant of pi:${p}:1`, claim: null })
  const v = await prove(email)
  expect(await of(v)).toMatchObject({ applicantId: `applicant of pi:${p}:1` })
  await shareFor(other)
  const shared = provider.redeemed.at(-1)
  await webhook(approved, { name: shared?.externalUserId ?? '', key: 'k' })
  await proveAs(p, other)
  expect(await of(p)).toMatchObject({ applicantId: shared?.applicantId, review: approved })
  await clock.advance(60 * 60_000)
  await verdicts.ask()
  expect(await of(p)).toMatchObject({ applicantId: shared?.applicantId, review: approved })
})

const ways = [
  'a request',
  'the poll',
  'the poll after a look-up that failed',
  'a webhook',
  'a webhook while a request looks',
]
test.each(ways.flatMap((who) => [email, other].map((address) => [who, address] as const)))(
  'a retry takes the place of what came along also where that is not rejected any more when it is found: by %s, for %s',
  async (who, address) => {
    const { shareFor, webhook, provider, clock, owner, of, verdicts, during, proveAs } = await cameAlong(60_000)
    const [before, retry] = ['pi:account-1:1', `pi:${owner}:1`]
    if (address === other) await proveAs(owner, other)
    provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
    await expect(shareFor(address)).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    provider.fault = () => null
    await clock.advance(claimLeaseMs)
    provider.reviews.set(`applicant of ${before}`, review('pending'))
    expect(await webhook(review('pending'), { key: 'turned' })).toBe('applied')
    const tell = () => webhook(begun, { name: retry, key: 'news' })
    if (who === 'the poll') await verdicts.ask()
    if (who === 'a webhook') await tell()
    if (who === 'a webhook while a request looks') during('find', tell)
    if (who === 'the poll after a look-up that failed') {
      provider.fault = () => 'throttled'
      await expect(shareFor(address)).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
      provider.fault = () => null
      await clock.advance(60 * 60_000)
      await verdicts.ask()
    } else await shareFor(address)
    await clock.advance(1_000)
    provider.reviews.set(`applicant of ${retry}`, approved)
    expect(await webhook(approved, { name: retry, key: 'approved' })).toBe('applied')
    await webhook(rejected, { key: 'again' })
    expect(await shareFor(address)).toEqual({ ...approved, reused: false })
    expect(provider.redeemed).toHaveLength(2)
    expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${retry}`, review: approved })
  },
)

test.each(['a request', 'the poll', 'a webhook', 'an operator'])(
  'what came along and is another account’s by now leaves before what is found is judged: by %s',
  async (who) => {
    const { shareFor, share, webhook, provider, clock, owner, proveAs, prove, of, verdicts, settle } =
      await cameAlong(60_000)
    const [before, retry] = ['pi:account-1:1', `pi:${owner}:1`]
    await proveAs(owner, other)
    provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
    await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    await clock.advance(claimLeaseMs)
    // A look-up that failed does not say for which address the next redemption will be, so what is there is kept until that is known.
    provider.fault = () => 'throttled'
    await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    provider.fault = () => null
    provider.reviews.set(`applicant of ${before}`, approved)
    await webhook(approved, { key: 'turned' })
    await proveAs(owner, email)
    const since = await prove(email)
    await proveAs(owner, other)
    expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${before}` })
    if (who === 'the poll') {
      await clock.advance(60 * 60_000)
      await verdicts.ask()
    }
    if (who === 'a webhook') await webhook(begun, { name: retry, key: 'news' })
    if (who === 'an operator')
      expect(await settle({ externalUserId: retry, applicantId: `applicant of ${retry}` })).toBe('attached')
    if (who === 'a request') expect(await shareFor(other)).toMatchObject({ reused: false })
    expect(await of(since)).toMatchObject({ applicantId: `applicant of ${before}`, review: approved })
    expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${retry}`, claim: null })
    expect(await share()).toEqual({ ...approved, reused: false })
    expect(provider.redeemed).toHaveLength(2)
  },
)

test('what shows late does not take the place of what came along approved, although that is older', async () => {
  const { share, shareFor, provider, clock, webhook, verdicts, of, prove, proveAs, redemptions } = provingSetup()
  const judged = async () => {
    await clock.advance(claimLeaseMs)
    await verdicts.ask()
  }
  const first = await prove(email)
  await share()
  const second = await prove(other)
  await lostBefore({ provider }, () => shareFor(other))
  // It does not come along while a redemption runs there.
  await proveAs(second, email)
  await judged()
  await lostBefore({ provider }, share)
  await judged()
  const late = `pi:${second}:2`
  expect(await redemptions()).toContainEqual([late, shop, 'absent'])
  await proveAs(first, email)
  const applicantId = `applicant of pi:${first}:1`
  await webhook(approved, { name: `pi:${first}:1`, key: 'approved' })
  await proveAs(second, email)
  expect(await of(second)).toMatchObject({ applicantId, attempt: null, review: approved })
  expect(await webhook(begun, { name: late, key: 'late' })).toBe('unknown')
  expect(await redemptions()).toContainEqual([late, shop, 'surplus'])
  expect(await of(second)).toMatchObject({ applicantId, review: approved })
  expect(await share()).toEqual({ ...approved, reused: false })
})

test.each(['the poll', 'a webhook', 'an operator', 'the answer'])(
  'a retry for an address that was given away goes there, and not what it replaced: by %s',
  async (who) => {
    const { share, webhook, provider, clock, owner, prove, of, verdicts, settle, during } = await cameAlong(60_000)
    const retry = `pi:${owner}:1`
    let since = ''
    if (who === 'the answer') {
      during('redeem', async () => {
        since = await prove(email)
      })
      await share()
    } else {
      provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
      await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
      provider.fault = () => null
      since = await prove(email)
      await clock.advance(claimLeaseMs)
    }
    if (who === 'the poll') await verdicts.ask()
    if (who === 'a webhook') await webhook(begun, { name: retry, key: 'news' })
    if (who === 'an operator')
      expect(await settle({ externalUserId: retry, applicantId: `applicant of ${retry}` })).toBe('attached')
    expect(await of(since)).toMatchObject({ applicantId: `applicant of ${retry}` })
    expect(await share()).toMatchObject({ reused: false })
    expect(provider.redeemed).toHaveLength(2)
  },
)

test.each(['a webhook after the claim', 'a webhook while a request looks'])(
  'an older attempt that shows late ends the claim of nobody else, and what waits for that leaves then: by %s',
  async (who) => {
    const { share, shareFor, provider, clock, webhook, verdicts, of, prove, proveAs, redemptions, during } =
      provingSetup()
    await share(shop, 'before')
    const before = 'applicant of pi:account-1:1'
    provider.reviews.set(before, rejected)
    await webhook(rejected)
    const owner = await prove(other)
    const late = `pi:${owner}:1`
    await lostBefore({ provider }, () => shareFor(other))
    await clock.advance(claimLeaseMs)
    await verdicts.ask()
    expect(await redemptions()).toContainEqual([late, shop, 'absent'])
    await proveAs(owner, email)
    await lostBefore({ provider }, share)
    provider.reviews.set(before, approved)
    await webhook(approved, { key: 'turned' })
    const since = await prove(email)
    expect(await of(owner)).toMatchObject({ applicantId: before, review: approved })
    await clock.advance(claimLeaseMs)
    const tell = () => webhook(begun, { name: late, key: 'late' })
    if (who === 'a webhook after the claim') await tell()
    else {
      await proveAs(owner, other)
      during('find', tell)
      await shareFor(other)
    }
    await verdicts.ask()
    expect(await of(since)).toMatchObject({ applicantId: before, review: approved })
    expect(await share()).toEqual({ ...approved, reused: false })
  },
)
