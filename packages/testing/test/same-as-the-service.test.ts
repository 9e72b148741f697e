/** The handlers and the real server answer a list of requests alike, with the same payments. */
import { openApiDocument } from '@payment-integration/contract/openapi'
import { setupServer } from 'msw/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { facts, indexPayments } from '../../server/test/support/index-payments.js'
import { legacyCalls } from '../../server/test/support/legacy-calls.js'
import { startSharing } from '../../server/test/support/sharing-service.js'
import { createTestService, type TestService } from '../src/exports/msw.js'

const baseUrl = 'https://service.test'
const hash = (digits: string) => `0x${digits.repeat(32)}`
const wallet = `0x${'55'.repeat(20)}`
const shopAddress = `0x${'Ab'.repeat(20)}`

let real: Awaited<ReturnType<typeof startSharing>>
let service: TestService
let intercepted: ReturnType<typeof setupServer>
let authorization: string
let apiKey: string

beforeAll(async () => {
  real = await startSharing()
  const shop = await real.createShop(shopAddress)
  await real.createShop(`0x${'cd'.repeat(20)}`)
  authorization = shop.authorization
  const integrationAddress = shop.address
  const minute = (n: number) => ({ blockTimestamp: Date.UTC(2026, 0, 1, 0, n), integrationAddress })
  await indexPayments(real.store, [
    facts({ txHash: hash('a1'), ...minute(1), sender: wallet }),
    facts({ txHash: hash('a2'), ...minute(2), receiver: wallet }),
    facts({ txHash: hash('a3'), ...minute(2), chainId: 10 }),
    // One hash on two chains, of which a wallet has one.
    facts({ txHash: hash('a4'), ...minute(3), chainId: 1, sender: wallet }),
    facts({ txHash: hash('a4'), ...minute(3), chainId: 10, sender: `0x${'77'.repeat(20)}` }),
    facts({ txHash: hash('a5'), ...minute(4), integrationAddress: `0x${'cd'.repeat(20)}` }),
  ])
  const { apiKey: key, lookup } = await legacyCalls(real)
  apiKey = key
  service = createTestService({
    baseUrl,
    integrations: [{ address: shopAddress, apiSecret: shop.apiSecret }],
    legacyKeys: [apiKey],
  })
  for (const payment of await everyPayment()) service.record(payment)
  service.legacy.record((await lookup(hash('a1'))).body)
  intercepted = setupServer(...service.handlers)
  intercepted.listen({ onUnhandledRequest: 'bypass' })
})
afterAll(async () => {
  intercepted?.close()
  await real?.stop()
})

async function everyPayment() {
  const response = await fetch(`${real.url}/api/v1/integration/payments`, { headers: { authorization } })
  return ((await response.json()) as { payments: never[] }).payments
}

interface Call {
  readonly method?: string
  readonly path: string
  /** `integration`, `legacy`, or the literal header. */
  readonly as?: string
  readonly body?: unknown
  readonly type?: string
}

async function answerOf(base: string, { method, path, as = 'integration', body, type = 'application/json' }: Call) {
  const credentials = as === 'integration' ? authorization : as === 'legacy' ? apiKey : as
  const response = await fetch(`${base}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(credentials === '' ? {} : { authorization: credentials }),
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const named = ['content-type', 'cache-control', 'www-authenticate'].map((name) => response.headers.get(name))
  return { status: response.status, named, body: (await response.json()) as unknown }
}

const payments = '/api/v1/integration/payments'
const wallets = '/api/v1/integration/wallet'
const share = '/api/v1/integration/idv-share-token'
const verify = '/api/v1/verify'
const request = {
  chainId: 1,
  txHash: hash('a1'),
  invoiceAmount: '12.5',
  invoiceCurrency: 'USD',
  address: `0x${'6'.repeat(40)}`,
}

describe('both answer the same', () => {
  const same: readonly [string, Call][] = [
    ['the list', { path: payments }],
    ['the list with the largest limit', { path: `${payments}?limit=200` }],
    ['a list of a wallet, in any case', { path: `${wallets}/${wallet.toUpperCase().replace('0X', '0x')}/payments` }],
    ['a payment, in any case', { path: `${payments}/${hash('A1')}` }],
    ['a payment of a wallet', { path: `${wallets}/${wallet}/payments/${hash('a4')}` }],
    ['a hash on two chains', { path: `${payments}/${hash('a4')}` }],
    ['a payment of another integration', { path: `${payments}/${hash('a5')}` }],
    ['a payment of another wallet', { path: `${wallets}/${wallet}/payments/${hash('a3')}` }],
    ['a malformed hash', { path: `${payments}/0x12` }],
    ['a malformed address', { path: `${wallets}/0x12/payments` }],
    ['a malformed address, for one payment', { path: `${wallets}/0x12/payments/${hash('a1')}` }],
    ...['0', '201', '-1', '1.5', '', '01', '1e1', 'x'].map((limit): [string, Call] => [
      `limit=${limit}`,
      { path: `${payments}?limit=${limit}` },
    ]),
    ...['', 'x', 'e30', '&cursor=x'].map((cursor): [string, Call] => [
      `cursor=${cursor}`,
      { path: `${payments}?cursor=${cursor}` },
    ]),
    ['a call without credentials', { path: payments, as: '' }],
    ['an unauthenticated call for a malformed hash', { path: `${payments}/0x12`, as: 'Basic eDp5' }],
    ['a raw address and secret', { path: payments, as: `${shopAddress}:secret` }],
    ['a path that does not exist', { path: '/api/v1/integration/nothing' }],
    ['a path that does not exist, unauthenticated', { path: '/api/v1/integration/nothing', as: '' }],
    ['a look-up', { path: `/api/v1/tx/1/${hash('a1')}`, as: 'legacy' }],
    ['a look-up of an unknown transaction', { path: `/api/v1/tx/1/${hash('ff')}`, as: 'legacy' }],
    ['a look-up without a key', { path: `/api/v1/tx/1/${hash('a1')}`, as: '' }],
    ['verify', { path: verify, as: 'legacy', body: request }],
    ['verify as Bearer, with a number', { path: verify, as: 'legacy', body: { ...request, invoiceAmount: 12.5 } }],
    ['verify of another amount', { path: verify, as: 'legacy', body: { ...request, invoiceAmount: '12.51' } }],
    ['verify of another currency', { path: verify, as: 'legacy', body: { ...request, invoiceCurrency: 'EUR' } }],
    ['verify of another receiver', { path: verify, as: 'legacy', body: { ...request, address: wallet } }],
    ['verify of an unknown transaction', { path: verify, as: 'legacy', body: { ...request, txHash: hash('ff') } }],
    ['verify without a key', { path: verify, as: '', body: request }],
    ...['text/plain;charset=UTF-8', 'application.json', 'application/json; charset=utf-16'].flatMap(
      (type): [string, Call][] => [
        [`verify as ${type}`, { path: verify, as: 'legacy', body: request, type }],
        [`a share as ${type}`, { path: share, body: { email: 'a@example.com', kycShareToken: 'x' }, type }],
      ],
    ),
    ['a share without an address', { path: share, body: { kycShareToken: 'x' } }],
    ['a share with a malformed address', { path: share, body: { email: 'x', kycShareToken: 'x' } }],
    ['a share with an empty token', { path: share, body: { email: 'a@example.com', kycShareToken: '' } }],
    ['an unauthenticated share', { path: share, body: {}, as: '' }],
  ]
  test.each(same)('to %s', async (_, call) => {
    expect(await answerOf(baseUrl, call)).toEqual(await answerOf(real.url, call))
  })

  const alike: readonly [string, Call][] = [
    ['a repeated limit', { path: `${payments}?limit=50&limit=50` }],
    ['a look-up with two flaws in its path', { path: '/api/v1/tx/01/0x12', as: 'legacy' }],
    ['verify with malformed JSON', { path: verify, as: 'legacy', body: '{' }],
    ['verify with a flaw in every field', { path: verify, as: 'legacy', body: { chainId: '1', invoiceAmount: null } }],
    ['verify of text', { path: verify, as: 'legacy', body: 'chainId=1', type: 'text/plain' }],
    ['a share with malformed JSON', { path: share, body: '{' }],
  ]
  test.each(alike)('except for the text to %s', async (_, call) => {
    const [given, expected] = [await answerOf(baseUrl, call), await answerOf(real.url, call)]
    expect(given.status).toBe(expected.status)
    expect(Object.keys(given.body as object)).toEqual(Object.keys(expected.body as object))
  })

  test.each([`${payments}?limit=2`, `${wallets}/${wallet}/payments?limit=1`])(
    'page by page to %s, and neither accepts a cursor of another list',
    async (path) => {
      const readAll = async (base: string) => {
        const pages: unknown[] = []
        let cursor: string | null = ''
        const tokens: string[] = []
        while (cursor !== null) {
          const { body } = await answerOf(base, { path: cursor === '' ? path : `${path}&cursor=${cursor}` })
          const page = body as { payments: unknown[]; nextCursor: string | null }
          pages.push(page.payments)
          cursor = page.nextCursor
          if (cursor !== null) tokens.push(cursor)
        }
        const other = path.startsWith(payments) ? `${wallets}/${wallet}/payments` : payments
        return { pages, misused: await answerOf(base, { path: `${other}?cursor=${tokens[0]}` }) }
      }
      const given = await readAll(baseUrl)
      expect(given).toEqual(await readAll(real.url))
      expect(given.pages.length).toBeGreaterThan(1)
    },
  )

  test('to all shares of one verification, and to a used token', async () => {
    const shareAll = async (base: string, tokens: readonly string[], decide: () => Promise<void>) => {
      const ask = (token: string) =>
        answerOf(base, { path: share, body: { email: 'Ada@Example.com', kycShareToken: token } })
      const [first = '', second = ''] = tokens
      const steps = [await ask(first), await ask(second)]
      await decide()
      const { body, ...used } = await ask(first)
      const { message } = body as { message: string }
      const keys = Object.keys(body as object)
      const verdict = message.slice(message.lastIndexOf(' The verification'))
      return [...steps, { ...used, keys, verdict }, await ask(second), await ask('any')]
    }
    const reasons = { rejectType: 'RETRY' as const, rejectLabels: ['BAD_SELFIE'] }
    const given = await shareAll(baseUrl, ['one', 'two'], async () =>
      service.identity.decide('ada@example.com', 'RED', reasons),
    )
    const expected = await shareAll(real.url, [real.mint(['IDENTITY']), real.mint(['IDENTITY'])], async () => {
      const [redemption] = real.provider.redemptions
      real.provider.reject(redemption?.applicantId ?? '', { labels: ['BAD_SELFIE'], rejectType: 'RETRY' })
      await real.provider.deliverWebhooks()
    })
    expect(given).toEqual(expected)
    const verdict = ' The verification shared before was rejected: RED, RETRY. Labels: BAD_SELFIE.'
    expect(expected[2]).toMatchObject({ status: 422, verdict })
  })
})

test('both treat the spellings of one mailbox as one user', async () => {
  const statuses = async (base: string, tokens: readonly string[]) => {
    const spellings = [
      'Zoë@Bücher.example',
      'zoe\u0308@xn--bcher-kva.example',
      'ZOË@BÜCHER.example.',
      'zoë@bücher\u3002example',
    ]
    const answers = []
    for (const [index, email] of spellings.entries()) {
      const { status, body } = await answerOf(base, { path: share, body: { email, kycShareToken: tokens[index] } })
      answers.push([status, (body as { reused: boolean }).reused])
    }
    return answers
  }
  const minted = Array.from({ length: 4 }, () => real.mint(['IDENTITY']))
  const given = await statuses(baseUrl, minted)
  expect(given).toEqual(await statuses(real.url, minted))
  expect(given).toEqual([true, false, false, false].map((redeemed) => [200, redeemed]))
})

test('every operation that the contract documents for integrators has a handler', async () => {
  const { paths } = openApiDocument({ version: '1.0.0' })
  const documented = Object.entries(paths ?? {})
    .filter(([path]) => path.startsWith('/api/v1/') && !path.includes('processor'))
    .flatMap(([path, operations]) => Object.keys(operations ?? {}).map((method) => [method, path] as const))
  expect(documented.length).toBeGreaterThan(5)
  for (const [method, path] of documented) {
    const url = `${baseUrl}${path.replaceAll(/\{(\w+)\}/g, 'x')}`
    const response = await fetch(url, { method })
    expect(response.status, `${method} ${path}`).toBe(401)
  }
})
