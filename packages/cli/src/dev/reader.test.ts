import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDemoReader } from './clients.js'

const txHash = `0x${'ab'.repeat(32)}`
const address = `0x${'11'.repeat(20)}`
const snapshot = {
  integrationAddress: address,
  chainId: '31337',
  txHash,
  version: 3,
  state: 'success' as const,
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

/** A reader of a service that answers `status` and `body`. */
async function reader(status: number, body: unknown, stored: typeof snapshot | null) {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const serviceUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return createDemoReader({ serviceUrl, integrationAddress: address, apiSecret: 'secret', stored: () => stored })
}

describe('createDemoReader', () => {
  it.each([
    ['version', { ...snapshot, version: 2 }],
    ['recipient', { ...snapshot, recipient: { title: 'Green Fork', subtitle: 'x' } }],
    ['invoice', { ...snapshot, invoice: { ...snapshot.invoice, amount: '1.01' } }],
  ])('names the field that differs: %s', async (field, stored) => {
    const { compare } = await reader(200, payment, stored as typeof snapshot)
    expect((await compare(txHash)).difference).toBe(`The API and the receiver disagree about "${field}".`)
  })

  it('compares a field that both have beyond those of today', async () => {
    const { compare } = await reader(200, { ...payment, note: 'a' }, { ...snapshot, note: 'b' } as typeof snapshot)
    expect((await compare(txHash)).difference).toBe('The API and the receiver disagree about "note".')
  })

  it('reports that the receiver stored nothing', async () => {
    const { compare } = await reader(200, payment, null)
    expect((await compare(txHash)).difference).toBe('The receiver stored nothing.')
  })
})
