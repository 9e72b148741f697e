/** INTERFACE 4.2: an account that proved an address keeps what was shared for it. */
import { describe, expect, test } from 'vitest'
import { carriedSetup as setUp } from '../../test/support/carried-setup.js'
import { approved, email, rejected, shop } from '../../test/support/share-setup.js'
import { claimLeaseMs } from './claim-times.js'

const other = 'second.user@example.com'
const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE' })

describe('an account that proved an address keeps what was shared for it', () => {
  test('where a webhook ended it before the account changed its address, and the request hears of that last', async () => {
    const { share, during, proveAs, squatter, of, webhook, name } = await setUp()
    await proveAs(squatter, email)
    during('redeem', async () => {
      await webhook(approved, { name })
      await proveAs(squatter, other)
    })
    expect(await share()).toEqual({ ...approved, reused: true })
    expect(await of(squatter)).toMatchObject({ donor: shop, applicantId: `applicant of ${name}`, review: approved })
  })

  test('where it is redeemed while the account changes its address', async () => {
    const { share, during, proveAs, squatter, of, prove, name } = await setUp()
    await proveAs(squatter, email)
    during('redeem', () => proveAs(squatter, other))
    expect(await share()).toMatchObject({ reused: true })
    expect(await of(await prove(email))).toMatchObject({ donor: null, applicantId: null })
    expect(await of(squatter)).toMatchObject({ donor: shop, applicantId: `applicant of ${name}`, claim: null })
  })

  test('where the poll ends it after the account changed its address', async () => {
    const { share, provider, proveAs, squatter, of, clock, verdicts, name } = await setUp()
    await proveAs(squatter, email)
    provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
    await expect(share()).rejects.toThrow(unavailable)
    provider.fault = () => null
    await proveAs(squatter, other)
    await clock.advance(claimLeaseMs)
    await verdicts.ask()
    expect(await of(squatter)).toMatchObject({ donor: shop, applicantId: `applicant of ${name}`, claim: null })
  })

  test.each(['a request', 'the poll'] as const)(
    'where %s finds nothing of a lost answer for the address that it proved next',
    async (who) => {
      const { share, shareFor, webhook, provider, proveAs, squatter, of, clock, verdicts, name } = await setUp()
      await proveAs(squatter, email)
      await share()
      provider.reviews.set(`applicant of ${name}`, rejected)
      await webhook(rejected, { name })
      await proveAs(squatter, other)
      provider.fault = () => 'lost before'
      await expect(shareFor(other)).rejects.toThrow(unavailable)
      await clock.advance(claimLeaseMs)
      provider.fault = (call) => (call === 'redeem' ? 'rejected' : null)
      if (who === 'the poll') await verdicts.ask()
      else await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
      const applicantId = `applicant of ${name}`
      expect(await of(squatter)).toMatchObject({ donor: shop, applicantId, review: rejected, claim: null })
    },
  )

  test('where somebody with a verification proved it since, whatever either proves then', async () => {
    const { share, shareFor, proveAs, prove, squatter, of, webhook, name } = await setUp()
    await proveAs(squatter, email)
    await share()
    await webhook(approved, { name })
    const second = await prove(other)
    await shareFor(other)
    await proveAs(second, email)
    await proveAs(second, 'third.user@example.com')
    await proveAs(squatter, 'fourth.user@example.com')
    expect(await of(squatter)).toMatchObject({ donor: shop, applicantId: `applicant of ${name}`, review: approved })
  })

  test('where somebody with a verification proved it since, and it goes with the address that it proves again', async () => {
    const { share, shareFor, proveAs, prove, squatter, of, name } = await setUp()
    await proveAs(squatter, email)
    await share()
    const second = await prove(other)
    await shareFor(other)
    await proveAs(second, email)
    await proveAs(second, 'third.user@example.com')
    await proveAs(squatter, email)
    expect(await of(squatter)).toMatchObject({ applicantId: `applicant of ${name}` })
    expect(await of(await prove(email))).toMatchObject({ applicantId: `applicant of ${name}` })
    expect(await of(squatter)).toMatchObject({ donor: null, applicantId: null })
  })

  test('where somebody proved it during a redemption that came to nothing, and an operator asks to end what ended long ago', async () => {
    const { share, shareFor, proveAs, prove, squatter, provider, clock, verdicts, of, settle, name } = await setUp()
    await proveAs(squatter, email)
    await share()
    const second = await prove(other)
    provider.fault = (call) => (call === 'redeem' ? 'lost before' : null)
    await expect(shareFor(other)).rejects.toThrow(unavailable)
    await proveAs(second, email)
    await clock.advance(claimLeaseMs)
    await verdicts.ask()
    expect(await of(second)).toMatchObject({ donor: null, claim: null })
    expect(await settle({ externalUserId: name, applicantId: null })).toBe('not_open')
    expect(await of(squatter)).toMatchObject({ donor: shop, applicantId: `applicant of ${name}` })
  })
})

test('an account keeps what was shared for an address that it proved when it proves another one', async () => {
  const { share, proveAs, squatter, name, of } = await setUp()
  await proveAs(squatter, email)
  await share()
  await proveAs(squatter, other)
  expect(await of(squatter)).toMatchObject({ donor: shop, applicantId: `applicant of ${name}` })
})

test('an account that proves the address that it carries keeps what was shared for it', async () => {
  const { share, proveAs, squatter, name, of } = await setUp()
  await share()
  await proveAs(squatter, email)
  expect(await of(squatter)).toMatchObject({ donor: shop, applicantId: `applicant of ${name}` })
})
