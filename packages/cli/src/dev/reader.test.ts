import { expect, it } from 'vitest'
import { serveHttp } from '../../test/serve-http.js'
import { createDemoReader } from './clients.js'

const txHash = `0x${'ab'.repeat(32)}`
const address = `0x${'11'.repeat(20)}`
const snapshot = {
  ...{ integrationAddress: address, chainId: '31337', txHash, version: 3, state: 'success' as const },
  recipient: { title: 'Green Fork', subtitle: null },
  invoice: { amount: '1.00', currency: 'EUR', settlementAmount: '1.08', settlementCurrency: 'USD' },
}
const payment = {
  ...snapshot,
  ...{ sender: address, receiver: address, memo: 'order-1' },
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
  const { compare } = createDemoReader({ ...access, stored: () => stored as typeof snapshot | null })
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
