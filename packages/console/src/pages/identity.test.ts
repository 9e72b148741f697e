/** Identity pages: decisions that wait, acts on them, and addresses that no page shows. */
import { createClient } from '@payment-integration/client'
import type { RedemptionRecord } from '@payment-integration/core/internal'
import { describe, expect, it } from 'vitest'
import { type Person, setUpAdmin } from '../../test/admin-setup.js'
import { openChanged } from '../../test/console-setup.js'

const email = 'Ada.Lovelace@example.com'
let vera: Person
let olga: Person
let share: (token: string, of?: string) => Promise<unknown>

const setup = setUpAdmin(24, async (own) => {
  const { twin } = own
  vera = await own.signIn('vera', 'viewer')
  const { address, apiSecret } = await twin.addIntegration()
  const client = createClient({
    ...{ baseUrl: 'https://payments.test', integrationAddress: address, apiSecret },
    ...{ fetch: twin.fetch, maxRetries: 0 },
  })
  share = (kycShareToken, of = email) => client.identity.share({ email: of, kycShareToken })
})

const identity = () => {
  const { identity: present } = setup.twin.service
  if (present === null) throw new Error('A twin has an identity provider.')
  return present
}

describe('the search by e-mail address', () => {
  it('leads a viewer to the keyed hash, and no page shows the address', async () => {
    await share(setup.twin.identity.shareToken())
    const key = await identity().emailKey(email)
    const { status, location, text } = await vera.act('identity-search', { email: ` ${email.toUpperCase()} ` })
    expect([status, location]).toEqual([303, `/console/identity?key=${key}&note=email-found`])
    const [record] = await setup.twin.service.store.console.audit({ limit: 1 })
    expect(record).toMatchObject({ actor: 'operator:vera', action: 'identity.searched', details: { emailKey: key } })
    const byKey = await vera.get(`/identity?key=${key}`)
    expect(byKey.text).toContain(`title="${key}"`)
    for (const each of [text, byKey.text, (await vera.get('/identity')).text, (await vera.get('/audit')).text])
      expect(each).not.toMatch(/lovelace/i)
  })

  it('of a text that is no address does not quote it', async () => {
    const { status, text } = await vera.act('identity-search', { email: 'no address <b>' })
    expect([status, text]).toEqual([400, expect.stringContaining('not a valid e-mail address')])
    expect(text).not.toContain('no address')
  })

  it('of an address without a subject shows none', async () => {
    const { location } = await vera.act('identity-search', { email: 'nobody@example.com' })
    const { text } = await vera.get((location ?? '').replace('/console', ''))
    expect(text).toMatch(/Nobody has shared a verification yet\..*payment-integration trigger kyc green/s)
  })

  it('a malformed keyed hash in the address is answered 400', async () => {
    expect((await vera.get('/identity?key=zz')).status).toBe(400)
  })
})

it('a verdict of another level is listed with its review, on the page and at its address, and changes nothing', async () => {
  const key = await identity().emailKey(email)
  const [before] = await identity().subjects({ emailKey: key, limit: 1 })
  const outcome = await identity().applyVerdict({
    eventKey: 'event-of-another-level',
    applicantId: before?.applicantId ?? '',
    externalUserId: null,
    levelName: 'some-lower-level',
    at: setup.twin.clock.now(),
    change: 'review',
    review: { reviewStatus: 'completed', reviewAnswer: 'GREEN', rejectType: null, rejectLabels: [] },
  })
  expect(outcome).toBe('other_level')
  for (const path of ['/identity', `/identity?key=${key}`]) {
    const { text } = await vera.get(path)
    const row = text.split('<tr').find((each) => each.includes('of another level'))
    expect(row, path).toContain('completed GREEN')
    expect(row, path).toContain(before?.applicantId)
  }
  const [after] = await identity().subjects({ emailKey: key, limit: 1 })
  expect(after?.review).toEqual(before?.review)
})
it('a verification on hold is checked without a change, and closed in the name of the operator', async () => {
  const { twin } = setup
  const key = await identity().emailKey(email)
  const [subject] = await identity().subjects({ emailKey: key, limit: 1 })
  const applicant = subject?.applicantId ?? ''
  await twin.identity.setActive(applicant, false)
  olga = await setup.signIn('olga', 'operator')
  expect((await olga.get('/identity')).text).toContain('aria-label="On hold or missing"')
  const fields = { subject: subject?.id ?? '', what: 'hold' }
  const before = await setup.audit(1)
  await olga.act('identity-close', { ...fields, dryRun: 'yes' })
  expect(await setup.audit(1)).toEqual(before)
  const missing = await olga.act('identity-close', { ...fields, what: 'missing', confirmed: 'yes' })
  expect([missing.status, missing.text.includes('neither on hold nor missing')]).toEqual([409, true])
  // The webhook of the activation is lost.
  twin.identity.provider.setWebhooks('PaymentService', [])
  await twin.identity.setActive(applicant, true)
  expect((await olga.act('identity-close', fields)).status).toBe(400)
  const { location } = await olga.act('identity-close', { ...fields, confirmed: 'yes' })
  expect(location).toBe('/console/identity?note=hold-closed')
  expect(await setup.audit(1)).toEqual([`operator:olga identity.hold_closed ${applicant}`])
})
it('a redemption with an unknown outcome waits for a decision, and an operator resolves it in their own name', async () => {
  const { twin } = setup
  const other = 'grace@example.com'
  twin.identity.provider.setWebhooks('PaymentService', [])
  twin.identity.provider.fail({ on: 'reuse', at: 'after', answer: 'lost' })
  for (let n = 0; n < 3; n += 1) twin.identity.provider.fail({ on: 'find', at: 'before', answer: 'lost' })
  const token = twin.identity.shareToken()
  await expect(share(token, other)).rejects.toThrow()
  const key = await identity().emailKey(other)
  const [open] = await identity().redemptions({ emailKey: key, limit: 1 })
  expect(open).toMatchObject({ state: 'unknown', isLeased: true })
  expect((await vera.get('/identity')).text).toContain('Nothing needs a decision')
  // Long enough for the lease to end; the look-ups on the way fail.
  for (let n = 0; n < 200; n += 1) twin.identity.provider.fail({ on: 'find', at: 'before', answer: 'lost' })
  await twin.advance(3 * 3_600_000)
  olga = await setup.signIn('oskar', 'operator')
  const { text } = await olga.get('/identity')
  expect(text).toContain('aria-label="Unknown outcomes"')
  expect(text).toContain(`name="externalUserId" value="${open?.externalUserId}"`)
  const fields = { externalUserId: open?.externalUserId ?? '' }
  const wrong = await olga.act('identity-resolve', { ...fields, finding: 'applicant', applicant: 'none-of-that-id' })
  expect([wrong.status, wrong.text.includes('knows no such applicant')]).toEqual([409, true])
  const none = { ...fields, finding: 'none', confirmed: 'yes' }
  expect((await olga.act('identity-resolve', { ...fields, finding: 'none' })).status).toBe(400)
  const done = await olga.act('identity-resolve', none)
  expect(done.location).toBe('/console/identity?note=redemption-absent')
  expect(await setup.audit(1)).toEqual([`operator:oskar identity.redemption_resolved ${open?.externalUserId}`])
  expect((await olga.act('identity-resolve', none)).status).toBe(409)
})

it('decisions and redemptions beyond the first 50 are counted', async () => {
  const build = (n: number): RedemptionRecord => {
    const names = { subjectId: `subject-${n}`, externalUserId: `user-${n}`, integrationAddress: `0x${'11'.repeat(20)}` }
    const absent = { applicantId: null, levelName: null }
    return { ...names, ...absent, number: 1, startedAt: n, state: 'unresolved', isFindable: true, isLeased: false }
  }
  const redemptions = async () => Array.from({ length: 1_000 }, (_, n) => build(n))
  const html = await openChanged(setup.twin, { identity: { ...identity(), redemptions } }).get('/identity')
  expect(html).toContain('50 of 1,000 unknown outcomes.')
  expect(html).toContain('50 of at least 1,000 redemptions. Choose a keyed hash')
})
