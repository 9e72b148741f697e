/** A cross-chain payment on two real chains: a deposit on one, its fill on the other, one stored payment. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Anvil, startAnvil } from '@payment-integration/chain-evm/dev'
import { createService, parseMasterKey, type ServiceEvent, systemClock } from '@payment-integration/core'
import type { Sender, Store } from '@payment-integration/core/ports'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../src/config/read-config.js'
import { openChain, openFulfilments } from '../src/run/open-chain.js'

const address = (byte: string) => `0x${byte.repeat(20)}`
const word = (value: string | bigint) => BigInt(value).toString(16).padStart(64, '0')
const router = address('e1')
const pool = address('5b')
const tokenIn = address('c1')
const tokenOut = address('c2')
const receiver = address('b1')
const shop = address('0a')
const origin = 31_337
const destination = 31_338
const yodl = '0x34597715a6a440e45ac583030622c386dc1299eb0d4fc56eaa9eba541462bbcd'
const fundsDeposited = '0x32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3'
const filledRelay = '0x44b559f101f8fbcc8a0ea43fa91a05a729a5ea6e14a7c75aa750374690137208'
const amountIn = 500n
const amountOut = 490n
const depositId = 7n

/** EVM code that emits one log. */
function emit(topics: readonly (string | bigint)[], data: readonly (string | bigint)[]): string {
  const stores = data.map((value, index) => `7f${word(value)}61${(index * 32).toString(16).padStart(4, '0')}52`)
  const pushed = topics.toReversed().map((topic) => `7f${word(topic)}`)
  const size = (data.length * 32).toString(16).padStart(4, '0')
  return `${stores.join('')}${pushed.join('')}61${size}6000a${topics.length}`
}
/** EVM code that calls a contract. */
const call = (to: string) => `6000600060006000600073${to.slice(2)}5af150`

interface Node extends Anvil {
  rpc<T>(method: string, ...params: unknown[]): Promise<T>
  send(to: string, data?: string): Promise<string>
}
async function startNode(chainId: number): Promise<Node> {
  const anvil = await startAnvil({ chainId })
  async function rpc<T>(method: string, ...params: unknown[]): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(anvil.rpcUrl, { method: 'POST', headers, body })
    return ((await answer.json()) as { result: T }).result
  }
  return {
    ...anvil,
    rpc,
    async send(to, data = '0x') {
      const [from] = await rpc<string[]>('eth_accounts')
      const hash = await rpc<string>('eth_sendTransaction', { from, to, data, gas: '0x7a120' })
      await rpc('anvil_mine', '0x1')
      return hash
    },
  }
}

let source: Node
let target: Node
let store: Store
let folder: string
beforeAll(async () => {
  source = await startNode(origin)
  target = await startNode(destination)
  folder = await mkdtemp(join(tmpdir(), 'cross-chain-'))
  store = createSqliteStore({ path: join(folder, 'payments.db') })
  await store.migrate()
})
afterAll(async () => {
  await store?.close()
  await rm(folder, { recursive: true, force: true })
  await source?.stop()
  await target?.stop()
})

/** The suffix that names the shop. */
function suffix(): string {
  const codes = Buffer.from(shop).toString('hex')
  return `${codes}2a00${'8021'.repeat(8)}`
}

it('a deposit becomes one payment on the destination when its fill is final, with version 1 once, also after repeated reads', async () => {
  const [payer = ''] = (await source.rpc<string[]>('eth_accounts')).map((each) => each.toLowerCase())
  const promised = [tokenIn, tokenOut, amountIn, amountOut]
  await source.rpc(
    'anvil_setCode',
    pool,
    `0x${emit([fundsDeposited, BigInt(destination), depositId, payer], [...promised, 1n, 2n, 3n, receiver, 0n, 320n, 0n])}`,
  )
  const paid = emit([yodl, payer, receiver], [tokenIn, amountIn, 0n, 1n])
  await source.rpc('anvil_setCode', router, `0x${call(pool)}${paid}`)
  const fill = [...promised, 1n, 2n, 3n, 0n, payer, receiver, 0n, receiver, 0n, amountOut, 0n]
  await target.rpc('anvil_setCode', pool, `0x${emit([filledRelay, BigInt(origin), depositId, address('e2')], fill)}`)

  const events: ServiceEvent[] = []
  const sender: Sender = { post: async () => ({ kind: 'failure', reason: 'connection', latencyMs: 0 }) }
  const masterKey = '0123456789abcdef'.repeat(4)
  const { chains } = readConfig({
    PI_MASTER_KEY: masterKey,
    [`PI_RPC_URL_${origin}`]: source.rpcUrl,
    [`PI_ROUTERS_${origin}`]: `${router}@0.8`,
    [`PI_SPOKE_POOLS_${origin}`]: pool,
    [`PI_RPC_URL_${destination}`]: target.rpcUrl,
    [`PI_ROUTERS_${destination}`]: `${router}@0.8`,
    [`PI_SPOKE_POOLS_${destination}`]: `${pool},${address('5c')}`,
    [`PI_CONFIRMATIONS_${destination}`]: '2',
  })
  const [sourceConfig] = chains
  const fills = await openFulfilments(chains, systemClock)
  if (sourceConfig === undefined || fills === null) throw new Error('The configuration names chains and SpokePools.')
  const evm = await openChain(sourceConfig)
  const service = createService({
    store,
    sender,
    masterKey: parseMasterKey(masterKey),
    chains: [{ chain: evm, startBlock: 0 }],
    fulfilments: { source: fills },
    onEvent: (event) => events.push(event),
  })
  const names = () => events.filter(({ type }) => type.startsWith('payment.'))

  const sourceHash = await source.send(router, `0x${suffix()}`)
  while (!(await service.indexers[0]?.step()));
  expect(names()).toEqual([])
  expect(await service.fulfilments?.runOnce()).toBe(0)

  const txHash = await target.send(pool)
  expect(await service.fulfilments?.runOnce()).toBe(0)
  await target.rpc('anvil_mine', '0x2')
  const rounds = await Promise.all([service.fulfilments?.runOnce(), service.fulfilments?.runOnce()])
  expect(rounds.toSorted()).toEqual([0, 1])
  expect(await service.fulfilments?.runOnce()).toBe(0)

  expect(names()).toMatchObject([{ type: 'payment.indexed', chainId: destination, txHash, integrationAddress: shop }])
  const payment = await service.queries.forIntegration(shop).getPayment({ txHash })
  expect(payment).toMatchObject({
    ...{
      chainId: String(destination),
      txHash,
      version: 1,
      state: null,
      integrationAddress: shop,
      sender: payer,
      receiver,
    },
    source: { chainId: String(origin), txHash: sourceHash },
    tokenIn: { address: tokenIn, symbol: null, amount: '500' },
    tokenOut: { address: tokenOut, symbol: null, amountGross: '490', amountNet: '490' },
  })
  await expect(service.queries.forIntegration(shop).getPayment({ txHash: sourceHash })).rejects.toMatchObject({
    code: 'ERR_PAYMENT_NOT_FOUND',
  })
  fills.close()
  evm.close()
})
