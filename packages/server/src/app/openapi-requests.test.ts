/** Requests conform to the OpenAPI document: what it allows is accepted, and anything else is a 400. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DocumentCheck, documentCheck } from '../../test/support/document-check.js'
import type { Documented, SentRequest } from '../../test/support/documented-service.js'
import { hashes, send, signedUpdate, startDocumented, wallet } from '../../test/support/documented-service.js'

let documented: Documented
let check: DocumentCheck

beforeAll(async () => {
  documented = await startDocumented()
  check = documentCheck(await (await fetch(`${documented.url}/openapi.json`)).text())
})
afterAll(() => documented.stop())

/** Whether the server rejects a request as malformed, and its answer. */
async function rejected(request: SentRequest): Promise<boolean> {
  const { status } = await send(documented.url, request)
  expect(status).toBeLessThan(500)
  return status === 400
}

const upper = (text: string) => text.replace(/[a-f]/g, (digit) => digit.toUpperCase())
const hash = hashes.single
const lists = ['/payments', `/wallet/${wallet}/payments`]

// biome-ignore format: a table
const values: readonly [name: string, good: readonly string[], bad: readonly string[]][] = [
  ['limit', ['1', '50', '200'], ['', '0', '201', '-1', '01', '+1', '1.5', '1e2', ' 1', '٣', '１', 'x', '99999999999999999999']],
  ['txHash', [hash, upper(hash)], [hash.slice(0, -1), `${hash}0`, hash.slice(2), hash.replace('0x', '0X'), `${hash.slice(0, -1)}g`]],
  ['address', [wallet, upper(wallet)], [wallet.slice(0, -1), `${wallet}0`, wallet.slice(2), wallet.replace('0x', '0X'), 'corner-cafe']],
  ['since', ['0', '1767323045000', '999999999999999'], ['', '-1', '+1', '1.5', '1e3', ' 1', '٣', 'x', '1000000000000000']],
  ['chainId', ['1', '137', '999999999999999'], ['0', '01', '-1', '+1', '1.0', '1e3', '0x1', '1000000000000000', 'x', '٣']],
]

const requests: Readonly<Record<string, readonly ((value: string) => SentRequest)[]>> = {
  limit: lists.map((list) => (value: string) => documented.read(`${list}?limit=${value}`)),
  txHash: [
    ...lists.map((list) => (value: string) => documented.read(`${list}/${value}`)),
    (value) => documented.lookup(`1/${value}`),
  ],
  address: ['', `/${hash}`].map((rest) => (value: string) => documented.read(`/wallet/${value}/payments${rest}`)),
  since: [(value) => documented.read(`/deliveries/stream?since=${value}`)],
  chainId: [(value) => documented.lookup(`${value}/${hash}`)],
}

describe.each(values)('%s', (name, good, bad) => {
  it.each([...good.map((value) => [value, 'taken'] as const), ...bad.map((value) => [value, 'rejected'] as const)])(
    '%j is %s, as documented',
    async (value, verdict) => {
      const isRejected = verdict === 'rejected'
      for (const request of requests[name] ?? []) {
        const sent = request(encodeURIComponent(value))
        const flaws = check.parameterFlaws(check.find(sent.method, sent.target), name, value)
        expect([sent.target, flaws.length > 0, await rejected(sent)]).toEqual([sent.target, isRejected, isRejected])
      }
    },
  )
})

const nines = (digits: number) => '9'.repeat(digits)
const each = <T>(name: string, given: readonly T[]) => given.map((value) => ({ [name]: value }))
const missing = undefined

/** Changes of a valid body. */
const changes: Readonly<
  Record<'verify' | 'update' | 'share', Readonly<Record<'taken' | 'rejected', readonly object[]>>>
> = {
  verify: {
    taken: [
      {},
      { more: 1 },
      ...each('chainId', [1, 999_999_999_999_999]),
      ...each('txHash', [upper(hash), hashes.unknown]),
      ...each('invoiceAmount', ['0', '0.1', '12.50', nines(100), 12.5, 0, 1e-7, 1e-98, 1e99]),
      ...each('invoiceCurrency', ['EUR', 'ETH', 'USDC.E', 'USD0++', 'A-B_C', 'A'.repeat(16)]),
      ...each('address', ['corner-cafe', 'x'.repeat(128)]),
    ],
    rejected: [
      ...each('chainId', [0, -1, 1.5, 1e15, '1', null, missing]),
      ...each('txHash', ['0x12', hash.replace('0x', '0X'), 1, null, missing]),
      ...each('invoiceAmount', ['', '-1', '+1', '1e0', ' 1', '.5', '1.', '01', '٣']),
      ...each('invoiceAmount', [nines(101), -1, true, null, missing]),
      ...each('invoiceCurrency', ['', 'eur', 'A'.repeat(17), 'E R', 1, null, missing]),
      ...each('address', ['', 'x'.repeat(129), 1, null, missing]),
    ],
  },
  update: {
    taken: [
      {},
      { state: null, recipient: null, invoice: null },
      { txHash: upper(hash) },
      { recipient: { title: 'Café', subtitle: 'at the corner' } },
    ],
    rejected: [
      { more: 1 },
      ...each('id', ['with space', '', 'x'.repeat(129), missing]),
      ...each('chainId', [1, '01', missing]),
      ...each('txHash', ['0x12', missing]),
      ...each('integrationAddress', ['0x12', null]),
      { state: 'done' },
      ...each('recipient', [{ title: 'Café' }, { title: 'Café', subtitle: null, more: 1 }]),
      ...each('invoice', [
        { amount: '1', currency: 'EUR' },
        { amount: 1, currency: 'EUR', settlementAmount: '1', settlementCurrency: 'USD' },
        { amount: '1', currency: 'eur', settlementAmount: '1', settlementCurrency: 'USD' },
        { amount: '1', currency: 'EUR', settlementAmount: '1e3', settlementCurrency: 'USD' },
      ]),
    ],
  },
  share: {
    taken: [
      {},
      { more: 1 },
      ...each('email', [
        ...['USER+tag@Shop.Example', 'josé@bücher.example', 'user@xn--bcher-kva.example.', 'ユーザー@例え。テスト'],
        ...[`${'a'.repeat(64)}@shop.example`, `user@${'abcdefgh.'.repeat(27)}exampl`],
      ]),
      ...each('kycShareToken', ['_', ' _act-jwt- ', 'é', 'x'.repeat(4_096)]),
    ],
    rejected: [
      ...each('email', ['', 'user', 'user@', '@shop.example', 'user@shop', 'user@shop..example', 'a@b@example.com']),
      ...each('email', ['us er@shop.example', 'user@shop.example'.padStart(1_025, 'a'), 1, null, missing]),
      ...each('kycShareToken', ['', ' \t\n', 'x'.repeat(4_097), 1, ['t'], {}, null, missing]),
    ],
  },
}

function requestWith(endpoint: keyof typeof changes, change: object): SentRequest {
  if (endpoint === 'verify') return documented.verify(JSON.stringify({ ...documented.payment, ...change }))
  const email = `${randomUUID()}@shop.example`
  if (endpoint === 'share') return documented.share(JSON.stringify({ email, kycShareToken: 'unknown', ...change }))
  return signedUpdate({ id: randomUUID(), chainId: '1', txHash: hash, ...change })
}

describe.each(['verify', 'update', 'share'] as const)('a body of %s', (endpoint) => {
  const rows = (['taken', 'rejected'] as const).flatMap((verdict) =>
    changes[endpoint][verdict].map((change) => [change, verdict] as const),
  )
  it.each(rows)('with %j is %s, as documented', async (change, verdict) => {
    const request = requestWith(endpoint, change)
    const flaws = check.bodyFlaws(check.find(request.method, request.target), JSON.parse(request.body ?? ''))
    expect([flaws.length > 0, await rejected(request)]).toEqual([verdict === 'rejected', verdict === 'rejected'])
  })
})

/** The document's pattern allows these; its description excludes them. */
it.each([
  ['a quoted name', '"quoted"@shop.example'],
  ['a domain that is an IP address', 'user@127.0.0.1'],
  ['a domain in brackets', 'user@[127.0.0.1]'],
  ['65 bytes before the @', `${'a'.repeat(65)}@shop.example`],
  ['255 bytes in all', `user@${'abcdefgh.'.repeat(27)}example`],
])('an e-mail address with %s is rejected, as its description says', async (_, email) => {
  const request = requestWith('share', { email })
  const operation = check.find(request.method, request.target)
  expect(check.bodyFlaws(operation, JSON.parse(request.body ?? ''))).toEqual([])
  expect(await rejected(request)).toBe(true)
  const { properties } = check.document.components.schemas['ShareRequest'] as { properties: { email: object } }
  const rules = /254 bytes .* at most 64 before .* Quoted local parts and domains that are IP addresses/
  expect(properties.email).toMatchObject({ description: expect.stringMatching(rules) })
})
