/**
 * docs/interface.md 2.5, 3 (KYC attachment) and 7 (422): how an integrator learns that its shared verification was
 * rejected.
 */
import { parseFormerVerdict } from '@payment-integration/contract'
import { kycUnavailableBody } from '@payment-integration/contract/internal'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Shop } from '../../test/support/clause-service.js'
import { startSharing } from '../../test/support/sharing-service.js'

let sharing: Awaited<ReturnType<typeof startSharing>>
let shop: Shop
let other: Shop
let users = 0
beforeAll(async () => {
  sharing = await startSharing()
  shop = await sharing.createShop(`0x${'01'.repeat(20)}`)
  other = await sharing.createShop(`0x${'02'.repeat(20)}`)
})
afterAll(() => sharing?.stop())

function newEmail(): string {
  users += 1
  return `user${users}@example.com`
}
const newest = () => sharing.provider.redemptions.at(-1)?.applicantId ?? ''
const redeemed = () => sharing.provider.redemptions.length
const rejection = { rejectType: 'FINAL', labels: ['FORGERY', 'Ünknown'] } as const
const final = ' The verification shared before was rejected: RED, FINAL. Labels: FORGERY, Ünknown.'

/** Shares a fresh token of a shop, and lets the provider reject the verification. */
async function shareRejected(email: string, verdict: Parameters<typeof sharing.provider.reject>[1] = rejection) {
  const token = sharing.mint()
  expect((await sharing.share(shop, email, token)).body).toMatchObject({ reused: true })
  sharing.provider.reject(newest(), verdict)
  await sharing.provider.deliverWebhooks()
  return token
}
async function getMessage(by: Shop, email: string, token: string): Promise<string> {
  const { status, body } = await sharing.share(by, email, token)
  expect([status, Object.keys(body as object)]).toEqual([422, ['error', 'message']])
  return (body as { message: string }).message
}

it('is answered when the used token is shared again: provider message, RED, type and labels, without a redemption', async () => {
  const email = newEmail()
  const used = await shareRejected(email)
  const before = redeemed()
  for (let times = 0; times < 2; times += 1) {
    const message = await getMessage(shop, email, used)
    expect(message).toMatch(/^Token is invalid: .*[.] The verification/)
    expect(message.endsWith(final)).toBe(true)
    expect(parseFormerVerdict(message)).toEqual({ rejectType: 'FINAL' })
  }
  expect(redeemed()).toBe(before)
})

it('is answered to no other integration, for no other user, and appears in no share log', async () => {
  const email = newEmail()
  const used = await shareRejected(email)
  const elsewhere = await sharing.share(other, email, used)
  expect([elsewhere.status, elsewhere.body]).toEqual([409, kycUnavailableBody])
  for (const by of [shop, other]) expect(await getMessage(by, newEmail(), used)).not.toContain('rejected: RED')
  expect(JSON.stringify(await sharing.identity.shares({ limit: 100 }))).not.toContain('FORGERY')
})
