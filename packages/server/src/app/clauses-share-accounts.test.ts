/**
 * docs/interface.md 4.2, account resolution: which account gets the verification, and that the answer does not reveal
 * whether it existed.
 */
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

it('the answer is the same whether or not an account existed', async () => {
  const [registered, carried, placeholder, unknown] = [newEmail(), newEmail(), newEmail(), newEmail()]
  const accounts = await sharing.identity.accounts()
  await accounts.proveByCode(registered, (await accounts.requestCode(registered)).code)
  await accounts.register(carried)
  const used = sharing.mint()
  await sharing.share(shop, newEmail(), used)
  expect((await sharing.share(shop, placeholder, used)).status).toBe(422)
  const answered = new Map<number, Set<string>>()
  onTestFinished(sharing.holdTime())
  const tokens = { used: () => used, fresh: () => sharing.mint(), another: () => sharing.mint() }
  for (const token of Object.values(tokens))
    for (const email of [registered, carried, placeholder, unknown]) {
      const { status, headers, text } = await sharing.share(shop, email, token())
      const bytes = JSON.stringify([[...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)), text])
      answered.set(status, (answered.get(status) ?? new Set()).add(bytes))
    }
  // A used token, then `reused: true`, then `reused: false`.
  expect([...answered].map(([status, answers]) => [status, answers.size])).toEqual([
    [422, 1],
    [200, 2],
  ])
})

it('an account that proves the address of a placeholder gets its verification', async () => {
  const email = newEmail()
  await sharing.share(shop, email, sharing.mint())
  const accounts = await sharing.identity.accounts()
  const { accountId } = await accounts.proveByAttestation(email, shop.address)
  const { code } = await accounts.requestCode(email)
  expect((await accounts.proveByCode(email, code)).accountId).toBe(accountId)
  const emailKey = await sharing.identity.emailKey(email)
  expect(await sharing.identity.subjects({ emailKey, limit: 2 })).toMatchObject([{ accountId, proved: true }])
  expect((await sharing.share(shop, email, sharing.mint())).body).toMatchObject({ reused: false })
  await expect(accounts.proveByAttestation(email, other.address)).rejects.toMatchObject({ code: 'ERR_EMAIL_PROOF' })
})
