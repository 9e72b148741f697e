/** docs/interface.md 5 and 4.1: rotated secrets over time, and cursors used on other lists. */
import { systemClock } from '@payment-integration/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clauses, type Shop, startClauses } from '../../test/support/clause-service.js'
import { basic } from '../../test/support/integration-service.js'

const wallet = (byte: string) => `0x${byte.repeat(20)}`
const word = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
const graceMs = 60_000

let now = Date.UTC(2026, 0, 2)
let clauses: Clauses
beforeAll(async () => {
  clauses = await startClauses({ clock: { ...systemClock, now: () => now } })
})
afterAll(() => clauses.stop())

describe('a rotated API secret', () => {
  const statuses = (shop: Shop, secrets: readonly string[]) =>
    Promise.all(secrets.map(async (secret) => (await clauses.get('payments', basic(shop.address, secret))).status))

  it('is replaced at once, and stays valid until the last millisecond of its grace period', async () => {
    const shop = await clauses.createShop(wallet('A1'))
    const { apiSecret } = await clauses.service.integrations.rotateApiSecret(shop.address, { graceMs })
    const secrets = [shop.apiSecret, apiSecret]
    expect(await statuses(shop, secrets)).toEqual([200, 200])
    now += graceMs - 1
    expect(await statuses(shop, secrets)).toEqual([200, 200])
    now += 1
    expect(await statuses(shop, secrets)).toEqual([401, 200])
  })

  it('expires at once without a grace period', async () => {
    const shop = await clauses.createShop(wallet('A2'))
    const { apiSecret } = await clauses.service.integrations.rotateApiSecret(shop.address)
    expect(await statuses(shop, [shop.apiSecret, apiSecret])).toEqual([401, 200])
  })

  it('is the only valid one besides the newest: a second rotation ends its grace period', async () => {
    const shop = await clauses.createShop(wallet('A3'))
    const { apiSecret: second } = await clauses.service.integrations.rotateApiSecret(shop.address, { graceMs })
    const { apiSecret: third } = await clauses.service.integrations.rotateApiSecret(shop.address, { graceMs })
    expect(await statuses(shop, [shop.apiSecret, second, third])).toEqual([401, 200, 200])
  })

  it('fails while the integration is disabled, and is unchanged once it is enabled', async () => {
    const shop = await clauses.createShop(wallet('A4'))
    const { apiSecret } = await clauses.service.integrations.rotateApiSecret(shop.address, { graceMs })
    await clauses.service.integrations.setEnabled(shop.address, false)
    expect(await statuses(shop, [shop.apiSecret, apiSecret])).toEqual([401, 401])
    await clauses.service.integrations.setEnabled(shop.address, true)
    expect(await statuses(shop, [shop.apiSecret, apiSecret])).toEqual([200, 200])
  })
})

describe('a cursor', () => {
  const [payer, payee] = [wallet('c1'), wallet('c2')]
  const refused = { status: 400, text: '{"error":"Invalid cursor"}' }
  let own: Shop
  let other: Shop

  beforeAll(async () => {
    own = await clauses.createShop(wallet('B1'))
    other = await clauses.createShop(wallet('B2'))
    for (let n = 0; n < 8; n++) {
      const integrationAddress = n % 2 === 0 ? own.address : other.address
      clauses.chain().mine([{ txHash: word(n + 1), integrationAddress, sender: payer, receiver: payee }])
    }
    await clauses.index()
  })

  const lists = ['payments', `wallet/${payer}/payments`, `wallet/${payee}/payments`] as const
  const read = async (shop: Shop, list: string, query: string) => {
    const { status, text } = await clauses.get(`${list}?${query}`, shop.authorization)
    return { status, text }
  }
  async function cursorOf(shop: Shop, list: string): Promise<string> {
    const page = JSON.parse((await read(shop, list, 'limit=1')).text) as { nextCursor: string }
    return page.nextCursor
  }

  it.each(lists)('of %s opens that list of that integration and no other', async (list) => {
    const cursor = await cursorOf(own, list)
    for (const shop of [own, other])
      for (const target of lists) {
        const answer = await read(shop, target, `limit=1&cursor=${cursor}`)
        if (shop === own && target === list) expect(answer.status).toBe(200)
        else expect(answer, `${shop.address} ${target}`).toEqual(refused)
      }
  })

  it('opens the list of its wallet in any spelling of the wallet, and pages of any size', async () => {
    const cursor = await cursorOf(own, `wallet/${payer}/payments`)
    const shouted = `wallet/0x${payer.slice(2).toUpperCase()}/payments`
    for (const limit of [1, 2, 200])
      expect((await read(own, shouted, `limit=${limit}&cursor=${cursor}`)).status).toBe(200)
  })

  it('with any bit flipped, or any character dropped, doubled or replaced, gets the same 400', async () => {
    const cursor = await cursorOf(own, 'payments')
    const broken = new Set<string>()
    for (let at = 0; at < cursor.length; at++) {
      const [before, here, after] = [cursor.slice(0, at), cursor.charAt(at), cursor.slice(at + 1)]
      for (let bit = 0; bit < 8; bit++)
        broken.add(before + String.fromCharCode(here.charCodeAt(0) ^ (1 << bit)) + after)
      broken.add(before + after)
      broken.add(before + here + here + after)
      broken.add(before + after.charAt(0) + here + after.slice(1))
    }
    broken.delete(cursor)
    expect(broken.size).toBeGreaterThan(800)
    const wrong: string[] = []
    for (const each of broken) {
      const { status, text } = await read(own, 'payments', `cursor=${encodeURIComponent(each)}`)
      if (status !== refused.status || text !== refused.text) wrong.push(`${each}: ${status} ${text}`)
    }
    expect(wrong).toEqual([])
  })

  it('of an integration whose secret was rotated stays valid', async () => {
    const cursor = await cursorOf(own, 'payments')
    const { apiSecret } = await clauses.service.integrations.rotateApiSecret(own.address)
    expect((await clauses.get(`payments?cursor=${cursor}`, basic(own.address, apiSecret))).status).toBe(200)
  })
})
