/** INTERFACE 4.2: whoever is given an address gets nothing of what an account shared for it that had given the address up before. */
import { describe, expect, test } from 'vitest'
import { provingSetup } from '../../test/support/proving-setup.js'
import { approved, begun, email, otherShop, rejected, shop } from '../../test/support/share-setup.js'
import { claimLeaseMs } from './claim-times.js'

const other = 'second.user@example.com'

/** An account proved an address, what it shared for it was rejected, it proved another one, and somebody else proved the first. */
async function gaveUp() {
  const setup = provingSetup()
  const { share, webhook, provider, clock, prove, proveAs, of } = setup
  const owner = await prove(email)
  const name = `pi:${owner}:1`
  const applicantId = `applicant of ${name}`
  await share()
  provider.reviews.set(applicantId, rejected)
  await webhook(rejected, { name })
  await proveAs(owner, other)
  const since = await prove(email)
  await clock.advance(60_000)
  expect(await of(owner)).toMatchObject({ applicantId, review: rejected })
  const turn = async () => {
    provider.reviews.set(applicantId, approved)
    await webhook(approved, { name, key: 'turned' })
  }
  return { ...setup, owner, since, applicantId, turn, retry: `pi:${owner}:2` }
}

const starts = ['a placeholder', 'an account that carries it', 'an account that proved it'] as const
const afterwards = ['nobody', 'somebody who only registers', 'somebody who proves it', 'its first account'] as const

describe('what is found of a lost answer is whose the address was next, who gave it up since', () => {
  const histories = starts.flatMap((start) =>
    afterwards
      .filter((next) => start !== 'a placeholder' || next !== 'its first account')
      .map((next) => ({ start, next })),
  )

  test.each(histories)('shared at $start; then it is proved by $next', async ({ start, next }) => {
    const { share, provider, clock, claims, prove, proveAs, verdicts, of } = provingSetup()
    const carrier = start === 'a placeholder' ? null : (await claims.register(email)).accountId
    if (carrier !== null && start === 'an account that proved it') await proveAs(carrier, email)
    provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
    await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    provider.fault = () => null
    const owner = await proveAs(await prove(email), other)
    if (next === 'somebody who only registers') await claims.register(email)
    if (next === 'somebody who proves it') await prove(email)
    if (next === 'its first account') await proveAs(carrier ?? '', email)
    await clock.advance(claimLeaseMs)
    await verdicts.ask()
    const applicantId = `applicant of pi:${carrier ?? 'account-1'}:1`
    expect(await of(owner)).toMatchObject({ donor: shop, applicantId, claim: null })
    expect(await of(carrier ?? 'account-1')).toMatchObject({ donor: null, applicantId: null, claim: null })
  })

  test('also where it had waited for the end of a retry, was approved meanwhile, and somebody registers', async () => {
    const { share, provider, clock, claims, prove, proveAs, verdicts, of, webhook } = provingSetup()
    await share()
    const applicantId = 'applicant of pi:account-1:1'
    provider.reviews.set(applicantId, rejected)
    await webhook(rejected)
    provider.fault = () => 'lost before'
    await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    provider.fault = () => null
    const owner = await prove(email)
    await clock.advance(1_000)
    provider.reviews.set(applicantId, approved)
    await webhook(approved, { key: 'turned' })
    await proveAs(owner, other)
    await claims.register(email)
    await clock.advance(claimLeaseMs)
    await verdicts.ask()
    expect(await of(owner)).toMatchObject({ donor: shop, applicantId, review: approved })
  })
})

describe('its retry for another address', () => {
  test.each([shop, otherShop])('takes its place, and leaves the first address to its owner and %s', async (by) => {
    const { share, shareFor, since, of } = await gaveUp()
    expect(await shareFor(other)).toMatchObject({ reused: true })
    expect(await of(since)).toMatchObject({ donor: null, applicantId: null })
    expect(await share(by)).toMatchObject({ reused: true })
  })

  test('hands nobody an approval that comes meanwhile', async () => {
    const { shareFor, since, owner, retry, during, turn, of } = await gaveUp()
    during('redeem', turn)
    expect(await shareFor(other)).toMatchObject({ reused: true })
    expect(await of(since)).toMatchObject({ donor: null, applicantId: null })
    expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${retry}` })
  })

  test.each(['a request', 'the poll', 'a webhook', 'an operator'])(
    'is found, and hands nobody anything: by %s',
    async (who) => {
      const { shareFor, since, owner, retry, turn, of, provider, clock, verdicts, webhook, settle } = await gaveUp()
      provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
      await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
      provider.fault = () => null
      await turn()
      await clock.advance(claimLeaseMs)
      if (who === 'a request') await shareFor(other)
      if (who === 'the poll') await verdicts.ask()
      if (who === 'a webhook') await webhook(begun, { name: retry, key: 'news' })
      if (who === 'an operator')
        expect(await settle({ externalUserId: retry, applicantId: `applicant of ${retry}` })).toBe('attached')
      expect(await of(since)).toMatchObject({ donor: null, applicantId: null })
      expect(await of(owner)).toMatchObject({ applicantId: `applicant of ${retry}`, claim: null })
    },
  )

  test.each([
    'refused',
    'refused, and turned approved meanwhile',
    'settled as absent',
    'not found by the poll',
    'not found by a request',
  ])('leaves what was there where it brings nothing: %s', async (how) => {
    const { shareFor, since, owner, applicantId, retry, turn, of, provider, clock, during, settle, verdicts } =
      await gaveUp()
    if (how.startsWith('refused')) {
      provider.fault = (call) => (call === 'redeem' ? 'rejected' : null)
      if (how !== 'refused') during('redeem', turn)
      await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
    } else {
      provider.fault = () => 'lost before'
      await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
      provider.fault = () => null
      await clock.advance(claimLeaseMs)
    }
    if (how === 'settled as absent') expect(await settle({ externalUserId: retry, applicantId: null })).toBe('absent')
    if (how.endsWith('poll')) await verdicts.ask()
    if (how.endsWith('request')) {
      provider.fault = (call) => (call === 'redeem' ? 'rejected' : null)
      await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
    }
    expect(await of(owner)).toMatchObject({ applicantId, claim: null })
    expect(await of(since)).toMatchObject({ donor: null, applicantId: null })
  })
})
