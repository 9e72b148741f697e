/** INTERFACE 4.2, account resolution: whose verification it becomes, and that the answer does not say whether there was an account. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Shop } from '../../test/support/clause-service.js'
import { startSharing } from '../../test/support/sharing-service.js'

let sharing: Awaited<ReturnType<typeof startSharing>>
let shop: Shop
let other: Shop
let users = 0
function newEmail(): string {
  users += 1
  return `user${users}@example.com`
}
beforeAll(async () => {
  sharing = await startSharing()
  shop = await sharing.createShop(`0x${'01'.repeat(20)}`)
  other = await sharing.createShop(`0x${'02'.repeat(20)}`)
})
afterAll(() => sharing?.stop())

const redeemed = () => sharing.provider.redemptions.length

describe('the address', () => {
  it('in another spelling is the same account', async () => {
    const name = `josé${newEmail().split('@')[0]}`
    await sharing.share(shop, `${name}@bücher.example`, sharing.mint())
    const before = redeemed()
    const again = await sharing.share(
      shop,
      `${name.normalize('NFD').toUpperCase()}@XN--BCHER-KVA.example.`,
      sharing.mint(),
    )
    expect(again.body).toMatchObject({ reused: false })
    expect(redeemed()).toBe(before)
  })
})

it('whether an account existed is in no byte of the answer', async () => {
  const [registered, carried, placeholder, unknown] = [newEmail(), newEmail(), newEmail(), newEmail()]
  const claims = await sharing.identity.claims()
  await claims.claimByCode(registered, (await claims.requestCode(registered)).code)
  await claims.register(carried)
  const used = sharing.mint()
  await sharing.share(shop, newEmail(), used)
  expect((await sharing.share(shop, placeholder, used)).status).toBe(422)
  const told = new Map<number, Set<string>>()
  onTestFinished(sharing.holdTime())
  const tokens = { used: () => used, fresh: () => sharing.mint(), another: () => sharing.mint() }
  for (const token of Object.values(tokens))
    for (const email of [registered, carried, placeholder, unknown]) {
      const { status, headers, text } = await sharing.share(shop, email, token())
      const bytes = JSON.stringify([[...headers].filter(([name]) => name !== 'date'), text])
      told.set(status, (told.get(status) ?? new Set()).add(bytes))
    }
  // A token that was used before, then `reused: true`, then `reused: false`.
  expect([...told].map(([status, answers]) => [status, answers.size])).toEqual([
    [422, 1],
    [200, 2],
  ])
})

it('a placeholder that its user claims keeps what was shared', async () => {
  const email = newEmail()
  await sharing.share(shop, email, sharing.mint())
  const claims = await sharing.identity.claims()
  const { accountId } = await claims.claimByAttestation(email, shop.address)
  const { code } = await claims.requestCode(email)
  expect((await claims.claimByCode(email, code)).accountId).toBe(accountId)
  const emailKey = await sharing.identity.emailKey(email)
  expect(await sharing.identity.verifications({ emailKey, limit: 1 })).toMatchObject([{ accountId }])
  expect((await sharing.share(shop, email, sharing.mint())).body).toMatchObject({ reused: false })
  await expect(claims.claimByAttestation(email, other.address)).rejects.toMatchObject({ code: 'ERR_EMAIL_PROOF' })
})
