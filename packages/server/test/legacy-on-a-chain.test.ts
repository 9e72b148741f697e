/** The configuration of prices and confirmations, from the environment to the legacy API, on a real chain. */
import { knownPriceFeeds, knownTokens } from '@payment-integration/chain-evm'
import { startAnvil } from '@payment-integration/chain-evm/dev'
import type { Logger } from '@payment-integration/core/ports'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, startServer } from '../src/run/start-server.js'
import { legacyCalls } from './support/legacy-calls.js'
import { tempConfig } from './support/temp-config.js'

const wallet = (byte: string) => `0x${byte.repeat(20)}`
const word = (value: string | bigint) => BigInt(value).toString(16).padStart(64, '0')
const router = wallet('e1')
const token = wallet('c1')
const feed = wallet('fe')
const receiver = wallet('a1')
const convert = '0x55f56a47af95f637819da860d955ff441e2d4c2a708c3608ead3781c68a63619'
const payment = '0x25f5a9cc9bfe1682a580e95d1f73b373aacdb5f8ae2009a32e67fdc4c79aac16'

/** EVM code that emits one log. */
function emit(topics: readonly (string | bigint)[], data: readonly (string | bigint)[]): string {
  const stores = data.map((value, index) => `7f${word(value)}60${(index * 32).toString(16).padStart(2, '0')}52`)
  const pushed = topics.toReversed().map((topic) => `7f${word(topic)}`)
  const size = (data.length * 32).toString(16).padStart(2, '0')
  return `${stores.join('')}${pushed.join('')}60${size}6000a${topics.length}`
}
/** A router of version 0.2 with fixed conversions: every call pays 11 units for an invoice of 10 CHF. */
const routerCode = (paidIn: string, pricedBy: string) =>
  emit([convert, pricedBy], [110_000_000n]) + emit([payment, wallet('51'), receiver], [paidIn, 11n, 0n, 0n])

const stops: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

/** A chain with one payment, in its first block, and servers that follow it. */
async function chainWithPayment(chainId: number, code: string) {
  const anvil = await startAnvil({ chainId })
  stops.push(() => anvil.stop())
  async function rpc(method: string, ...params: unknown[]) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(anvil.rpcUrl, { method: 'POST', headers, body })
    return ((await answer.json()) as { result: unknown }).result
  }
  await rpc('anvil_setCode', router, `0x${code}00`)
  const [from] = (await rpc('eth_accounts')) as string[]
  const txHash = (await rpc('eth_sendTransaction', { from, to: router, gas: '0x30d40' })) as string
  const head = async () => Number(await rpc('eth_blockNumber'))
  return {
    head,
    mine: (blocks: number) => rpc('anvil_mine', `0x${blocks.toString(16)}`),
    /** `env` names the variables of the chain without their chain id. */
    async start(env: Record<string, string> = {}, logger?: Logger) {
      const chain = { RPC_URL: anvil.rpcUrl, ROUTERS: `${router}@0.2`, START_BLOCK: '0', POLL_MS: '50', ...env }
      const { config, remove } = await tempConfig(
        Object.fromEntries(Object.entries(chain).map(([name, value]) => [`PI_${name}_${chainId}`, value])),
      )
      stops.push(remove)
      const server = await startServer(config, { logger })
      stops.push(() => server.stop())
      return server
    },
    /** The legacy API's payment and verify status once every block is indexed. */
    async ask(server: RunningServer, { invoiceAmount = '10', invoiceCurrency = 'CHF' } = {}) {
      const newest = await head()
      await expect.poll(() => server.service.indexers[0]?.status().indexed, { timeout: 300_000 }).toBe(newest)
      const { lookup, verify } = await legacyCalls(server)
      const { body } = await lookup(txHash, chainId)
      const request = { chainId, txHash, invoiceAmount, invoiceCurrency, address: receiver }
      const { status } = await verify(request)
      return { item: body.payments[0], verified: status }
    },
  }
}

let chain: Awaited<ReturnType<typeof chainWithPayment>>
beforeAll(async () => {
  chain = await chainWithPayment(31_337, routerCode(token, feed))
})

describe('PI_TOKENS, PI_PRICE_FEEDS and PI_CONFIRMATIONS', () => {
  const added = { TOKENS: `${token}:XUSD:USD`, PRICE_FEEDS: `${feed}:CHF:USD:8` }

  it('decide the invoice, and when the payment is final', async () => {
    const paidIn = 1
    // A node answers the hash of a transaction before its block is mined.
    await chain.mine(1)
    const confirmations = (await chain.head()) - paidIn + 1
    const server = await chain.start({ ...added, CONFIRMATIONS: String(confirmations) })
    const item = {
      tokenAmount: { formatted: '11', value: '11' },
      invoiceAmount: '10',
      invoiceCurrency: 'CHF',
      conversion: 'chainlink:CHFUSD',
      priceFeeds: [{ name: 'CHFUSD', contract: feed, rate: '1.1' }],
    }
    expect(await chain.ask(server)).toMatchObject({ item: { ...item, final: false }, verified: 200 })
    await chain.mine(1)
    expect(await chain.ask(server)).toMatchObject({ item: { ...item, final: true }, verified: 200 })
  })
  it('override a known token and a known feed of a chain, which is logged at the start', async () => {
    const usdc = knownTokens(10).find(({ symbol }) => symbol === 'USDC') ?? expect.fail('USDC is known')
    const euro = knownPriceFeeds(10).find(({ base }) => base === 'EUR') ?? expect.fail('EUR/USD is known')
    const optimism = await chainWithPayment(10, routerCode(usdc.address, euro.address))
    const lines: [string, Readonly<Record<string, unknown>>][] = []
    const ignore = () => undefined
    const warn: Logger['warn'] = (fields, message) => lines.push([message, fields])
    const server = await optimism.start(
      { TOKENS: `${usdc.address}:USDX:EUR,${token}:XUSD:USD`, PRICE_FEEDS: `${euro.address}:GBP:EUR:7` },
      { debug: ignore, info: ignore, error: ignore, warn },
    )
    const message = 'The configuration overrides a shipped token or price feed.'
    expect(lines.filter(([text]) => text === message).map(([, fields]) => fields)).toEqual([
      { chainId: 10, kind: 'token', address: usdc.address, known: 'USDC:USD', configured: 'USDX:EUR' },
      { chainId: 10, kind: 'price feed', address: euro.address, known: 'EUR:USD:8', configured: 'GBP:EUR:7' },
    ])
    const item = {
      ...{ invoiceAmount: '1', invoiceCurrency: 'GBP', conversion: 'chainlink:GBPEUR' },
      priceFeeds: [{ name: 'GBPEUR', contract: euro.address, rate: '11' }],
    }
    const answer = await optimism.ask(server, { invoiceAmount: '1', invoiceCurrency: 'GBP' })
    expect(answer).toMatchObject({ item, verified: 200 })
  })
})
