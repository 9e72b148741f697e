/** INTERFACE 4.2: what comes of an attempt is its taker's, whatever its account did since. */
import { expect, test } from 'vitest'
import { provingSetup } from '../../test/support/proving-setup.js'
import { approved, begun, email, otherShop, rejected, shop } from '../../test/support/share-setup.js'
import { claimLeaseMs } from './claim-times.js'
import { createRecordDirectVerification } from './direct-verification.js'

const other = 'second.user@example.com'
const unavailable = { code: 'ERR_IDENTITY_UNAVAILABLE' }
const refused = { code: 'ERR_SHARE_TOKEN_REJECTED' }

test.each(['refused', 'redeemed'])(
  'a webhook tells of it while its account, which proved the address again, redeems once more, and is %s',
  async (how) => {
    const { share, provider, prove, proveAs, clock, verdicts, during, webhook, of } = provingSetup()
    const account = await prove(email)
    provider.fault = () => 'lost before'
    await expect(share()).rejects.toMatchObject(unavailable)
    provider.fault = () => null
    const taker = await prove(email)
    await proveAs(taker, other)
    await proveAs(account, email)
    await clock.advance(claimLeaseMs)
    await verdicts.ask()
    provider.fault = (call) => (call === 'redeem' && how === 'refused' ? 'rejected' : null)
    during('redeem', () => webhook(approved, { name: `pi:${account}:1` }))
    if (how === 'refused') await expect(share()).rejects.toMatchObject(refused)
    else expect(await share()).toMatchObject({ reused: true })
    const applicantId = `applicant of pi:${account}:1`
    expect(await of(taker)).toMatchObject({ donor: shop, applicantId, review: approved })
    const own = how === 'refused' ? null : `applicant of pi:${account}:2`
    expect(await of(account)).toMatchObject({ applicantId: own, claim: null })
  },
)

test.each([null, 'direct applicant'])(
  'the user of its account did a verification directly meanwhile: %s',
  async (applicantId) => {
    const { store, share, provider, prove, clock, verdicts, of } = provingSetup()
    const account = await prove(email)
    provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
    await expect(share()).rejects.toMatchObject(unavailable)
    provider.fault = () => null
    const taker = await prove(email)
    await clock.advance(claimLeaseMs)
    const direct = createRecordDirectVerification({ store, clock })
    expect(await direct({ accountId: account, applicantId, review: approved, at: clock.now() })).toBe('recorded')
    await verdicts.ask()
    expect(await of(taker)).toMatchObject({ donor: shop, applicantId: `applicant of pi:${account}:1` })
    expect(await of(account)).toMatchObject({ donor: 'self', applicantId, review: approved })
    expect(await share()).toMatchObject({ reused: false })
    expect(provider.redeemed).toHaveLength(1)
  },
)

test('it is shown late, and what waits for the end of another claim of its account leaves at that end', async () => {
  const { share, shareFor, provider, prove, proveAs, clock, verdicts, webhook, of } = provingSetup()
  const account = await prove(email)
  provider.fault = () => 'lost before'
  await expect(share()).rejects.toMatchObject(unavailable)
  provider.fault = () => null
  await clock.advance(claimLeaseMs)
  await verdicts.ask()
  const taker = await prove(email)
  await proveAs(account, other)
  await shareFor(other)
  const applicantId = `applicant of pi:${account}:2`
  provider.reviews.set(applicantId, rejected)
  await webhook(rejected, { name: `pi:${account}:2` })
  provider.fault = () => 'lost before'
  await expect(shareFor(other)).rejects.toMatchObject(unavailable)
  provider.fault = () => null
  const owner = await prove(other)
  await clock.advance(claimLeaseMs)
  await webhook(begun, { name: `pi:${account}:1`, key: 'late' })
  expect(await of(taker)).toMatchObject({ applicantId: `applicant of pi:${account}:1` })
  await verdicts.ask()
  expect(await of(owner)).toMatchObject({ donor: shop, applicantId, review: rejected })
  expect(await of(account)).toMatchObject({ donor: null, applicantId: null, claim: null })
})

test.each([shop, otherShop])(
  'a retry of its account is shown late, which kept what the retry was to replace: %s',
  async (by) => {
    const { share, shareFor, provider, prove, proveAs, clock, verdicts, during, webhook, of } = provingSetup()
    const account = await prove(email)
    await share()
    const [first, retry] = [`pi:${account}:1`, `pi:${account}:2`]
    provider.reviews.set(`applicant of ${first}`, rejected)
    await webhook(rejected, { name: first })
    provider.fault = () => 'lost before'
    await expect(share()).rejects.toMatchObject(unavailable)
    provider.fault = () => null
    await clock.advance(claimLeaseMs)
    await verdicts.ask()
    const taker = await prove(other)
    provider.fault = (call) => (call === 'redeem' ? 'rejected' : null)
    during('redeem', () => proveAs(taker, email))
    await expect(shareFor(other, by)).rejects.toMatchObject(refused)
    provider.fault = () => null
    await clock.advance(1_000)
    provider.reviews.set(`applicant of ${first}`, approved)
    await webhook(approved, { name: first, key: 'turned' })
    await webhook(begun, { name: retry, key: 'late' })
    expect(await of(account)).toMatchObject({ donor: shop, applicantId: `applicant of ${first}`, review: approved })
    expect(await of(taker)).toMatchObject({ donor: shop, applicantId: `applicant of ${retry}` })
  },
)
