import { buffer } from 'node:stream/consumers'
import { verifySignature } from '@payment-integration/webhook'
import { describe, expect, it } from 'vitest'
import { serveHttp } from '../../test/serve-http.js'
import { createComparison, createUpdateSender, planPayment, seededFraction } from './clients.js'

function plans(seed: number, count: number) {
  const fraction = seededFraction(seed)
  return Array.from({ length: count }, (_, index) => planPayment(index + 1, fraction))
}

it('seededFraction gives the same numbers for the same seed, and others for another', () => {
  const take = (seed: number) => Array.from({ length: 5 }, seededFraction(seed))
  expect(take(42)).toEqual(take(42))
  expect(take(42)).not.toEqual(take(43))
  expect(take(42)[0]).toBeCloseTo(0.6011037519201636, 12)
})

describe('planPayment', () => {
  it('moves pending -> success, and some payments on to a refund', () => {
    const paths = new Set(plans(1, 200).map(({ updates }) => updates.map(({ state }) => state).join(' ')))
    expect([...paths].sort()).toEqual(['pending success', 'pending success refund_pending refund_success'])
  })

  it('sends a whole invoice and a recipient with success, in amounts of two decimals', () => {
    for (const { updates, settlementCents, price, memo } of plans(3, 200)) {
      const paid = updates[1]
      expect(paid?.recipient?.title).toMatch(/\w/)
      expect(paid?.invoice?.amount).toMatch(/^[1-9]\d{0,2}\.\d\d$/)
      expect(paid?.invoice?.settlementAmount).toBe((settlementCents / 100).toFixed(2))
      expect(price).toBe(`${paid?.invoice?.amount} EUR`)
      expect(memo.length).toBeLessThanOrEqual(31)
    }
  })
})

const secret = 'a-processor-secret-of-the-test'
const update = { id: 'demo-1-1', chainId: '31337', txHash: `0x${'ab'.repeat(32)}`, state: 'pending' } as const

/** A processor whose updates are verified and then answered as given. */
async function processor(status: number, answer: unknown) {
  const serviceUrl = await serveHttp(async (request, response) => {
    const header = String(request.headers['x-service-signature'])
    await verifySignature({ body: await buffer(request), header, secrets: [secret] })
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  return createUpdateSender({ serviceUrl, secret, clock: Date })
}

describe('createUpdateSender', () => {
  it('resolves null while the update waits', async () => {
    const send = await processor(202, { id: 'demo-1-1', outcome: 'waiting', version: null, reason: null })
    expect(await send(update)).toBeNull()
  })

  it.each([
    [422, { outcome: 'rejected', reason: 'success cannot become pending' }, 'success cannot become pending'],
    [401, { error: 'Unauthorized' }, 'Unauthorized'],
    [500, {}, 'no reason given'],
  ])('rejects with status %i and the reason', async (status, answer, reason) => {
    const send = await processor(status, answer)
    const message = `The service answered ${status} to the processor's update pending: ${reason}.`
    await expect(send(update)).rejects.toMatchObject({ code: 'ERR_DEMO', message })
  })
})

const { txHash } = update
const address = `0x${'11'.repeat(20)}`
const snapshot = {
  ...{ integrationAddress: address, chainId: '31337', txHash, version: 3, state: 'success' as const },
  recipient: { title: 'Green Fork', subtitle: null },
  invoice: { amount: '1.00', currency: 'EUR', settlementAmount: '1.08', settlementCurrency: 'USD' },
}
const payment = {
  ...snapshot,
  sender: address,
  receiver: address,
  memo: 'order-1',
  blockTimestamp: '2026-01-02T03:04:05.000Z',
  source: { chainId: '31337', txHash },
  tokenIn: { address, symbol: 'USDC', amount: '1.08' },
  tokenOut: { address, symbol: 'USDC', amountGross: '1.08', amountNet: '1.07' },
}

/** What the reader reports of a service that answers with the payment and a note. */
async function getDifference(stored: object | null) {
  const serviceUrl = await serveHttp((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...payment, note: 'a' }))
  })
  const access = { serviceUrl, integrationAddress: address, apiSecret: 'secret' }
  const compare = createComparison({ ...access, stored: () => stored as typeof snapshot | null })
  return (await compare(txHash)).difference
}

it.each([
  ['version', { version: 2 }],
  ['recipient', { recipient: { title: 'Green Fork', subtitle: 'x' } }],
  ['invoice', { invoice: { ...snapshot.invoice, amount: '1.01' } }],
  ['note', { note: 'b' }],
])('names the field that differs: %s', async (field, change) => {
  const difference = `The API and the receiver disagree about "${field}".`
  expect(await getDifference({ ...snapshot, ...change })).toBe(difference)
})

it('reports that the receiver stored nothing', async () => {
  expect(await getDifference(null)).toBe('The receiver stored nothing.')
})
