/** docs/interface.md 5, clause by clause, with integrations as the service itself stores them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clauses, type Shop, startClauses } from '../../test/support/clause-service.js'
import { basic } from '../../test/support/integration-service.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

const wallet = (byte: string) => `0x${byte.repeat(20)}`
const txHash = `0x${'1a'.repeat(32)}`
const prefix = '/api/v1/integration'
const endpoints = [
  ...[`${prefix}/payments`, `${prefix}/payments/${txHash}`, `${prefix}/wallet/${wallet('c1')}/payments`],
  `${prefix}/wallet/${wallet('c1')}/payments/${txHash}`,
]
const rejected: readonly (readonly [string, string])[] = [
  [`${prefix}/payments?limit=0`, '400 limit'],
  [`${prefix}/payments?limit=201`, '400 limit'],
  [`${prefix}/payments?cursor=x`, '400 cursor'],
  [`${prefix}/payments/0x12`, '400 hash'],
  [`${prefix}/wallet/0x12/payments`, '400 address'],
  [`${prefix}/wallet/0x12/payments/${txHash}`, '400 address'],
  [`${prefix}/payments/${`0x${'ff'.repeat(32)}`}`, '404'],
  [`${prefix}/nothing/here`, '404'],
]

let clauses: Clauses
let shop: Shop
let disabled: Shop
let unissued: Shop
beforeAll(async () => {
  clauses = await startClauses()
  shop = await clauses.createShop(wallet('Ab'))
  disabled = await clauses.createShop(wallet('Bc'))
  await clauses.service.integrations.setEnabled(disabled.address, false)
  unissued = await clauses.createShop(wallet('Cd'))
  const noSecret = { apiSecret: null, previousApiSecret: null }
  await clauses.store.transaction((tx) => tx.integrations.update(unissued.address, noSecret))
  clauses.chain().mine([{ txHash, integrationAddress: shop.address, sender: wallet('c1') }])
  await clauses.index()
})
afterAll(() => clauses.stop())

/** The whole answer without its date and the id of the request: status line, headers and body. */
async function ask(target: string, headers: readonly string[]): Promise<string> {
  return (await sendRaw(clauses.url, requestText(target, headers))).replaceAll(/^(?:Date|X-Request-Id): .*\r\n/gim, '')
}
const getStatus = async (authorization: string, target = endpoints[0] ?? '') =>
  parseRaw(await ask(target, [`Authorization: ${authorization}`])).status

describe('Basic authentication', () => {
  it.each(endpoints)('opens %s with the integration address and its API secret', async (target) => {
    expect(await getStatus(basic(shop.address, shop.apiSecret), target)).toBe(200)
    expect(await getStatus(basic(shop.registered, shop.apiSecret), target)).toBe(200)
  })

  it.each(endpoints)('gives one 401, byte for byte, on %s for every failure', async (target) => {
    const failures: Record<string, readonly string[]> = {
      'no header': [],
      'an unknown address': [`Authorization: ${basic(wallet('ee'), shop.apiSecret)}`],
      'a wrong secret': [`Authorization: ${basic(shop.address, `${shop.apiSecret}x`)}`],
      'a disabled integration': [`Authorization: ${disabled.authorization}`],
      'an integration without an API secret': [`Authorization: ${unissued.authorization}`],
      'the secret of another integration': [`Authorization: ${basic(shop.address, disabled.apiSecret)}`],
      'the webhook signing secret': [`Authorization: ${basic(shop.address, shop.signingSecret)}`],
      'the raw address:secret form': [`Authorization: ${shop.address}:${shop.apiSecret}`],
      'the raw form after the scheme': [`Authorization: Basic ${shop.address}:${shop.apiSecret}`],
      'the credentials as Bearer': [`Authorization: ${shop.authorization.replace('Basic', 'Bearer')}`],
      'an empty secret': [`Authorization: ${basic(shop.address, '')}`],
    }
    const answers = new Map<string, string>()
    for (const [cause, headers] of Object.entries(failures)) answers.set(cause, await ask(target, headers))
    const first = answers.get('no header') ?? ''
    expect(parseRaw(first)).toMatchObject({ status: 401, body: '{"error":"Unauthorized"}' })
    expect(parseRaw(first).headers.get('cache-control')).toBe('private, no-store')
    for (const [cause, answer] of answers) expect(answer, cause).toBe(first)
  })

  it('uses another secret than the one that signs notifications', async () => {
    const secrets = [shop, disabled, unissued].flatMap(({ apiSecret, signingSecret }) => [apiSecret, signingSecret])
    expect(new Set(secrets).size).toBe(6)
    const { apiSecret } = await clauses.service.integrations.rotateApiSecret(unissued.address)
    const { signingSecret } = await clauses.service.integrations.prepareSigningSecret(unissued.address)
    expect(new Set([...secrets, apiSecret, signingSecret]).size).toBe(8)
    expect(await getStatus(basic(unissued.address, apiSecret))).toBe(200)
    expect(await getStatus(basic(unissued.address, signingSecret))).toBe(401)
  })
})

describe('authentication comes before validation', () => {
  it.each(rejected)('%s is 401 without valid credentials and %s for the integration', async (target, expected) => {
    for (const headers of [[], [`Authorization: ${basic(shop.address, 'wrong')}`]])
      expect(parseRaw(await ask(target, headers))).toMatchObject({ status: 401, body: '{"error":"Unauthorized"}' })
    expect(String(await getStatus(shop.authorization, target))).toBe(expected.slice(0, 3))
  })
})
