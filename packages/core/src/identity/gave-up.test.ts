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

test('what is found of a lost answer goes to nobody who proved the address after its next owner gave that up', async () => {
  const { share, provider, clock, prove, proveAs, verdicts, of } = provingSetup()
  const first = await prove(email)
  provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
  await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  provider.fault = () => null
  const second = await prove(email)
  await proveAs(second, other)
  const third = await prove(email)
  await clock.advance(claimLeaseMs)
  await verdicts.ask()
  expect(await of(third)).toMatchObject({ donor: null, applicantId: null })
  expect(await of(first)).toMatchObject({ applicantId: `applicant of pi:${first}:1`, claim: null })
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
