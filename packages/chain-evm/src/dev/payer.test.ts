import { createPublicClient, http, stringToHex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { passOn, useFront } from '../../test/front.js'
import { readAll } from '../../test/read-all.js'
import { nativeTokenAddress } from '../decode/router-decoder.js'
import { createEvmChain } from '../evm-chain.js'
import { startAnvil } from './anvil.js'
import { deployDevRouter, deriveDevAccount } from './dev-chain.js'
import { createPayer } from './payer.js'

const receiver = '0x00000000000000000000000000000000000000b2'
const integration = '0x00000000000000000000000000000000000000aa'

const anvil = await startAnvil({ blockTimeSeconds: 0.05 })
afterAll(() => anvil.stop())
const front = await useFront(anvil.rpcUrl)
const deployment = await deployDevRouter(anvil)
const payer = createPayer({ ...anvil, deployment })
const client = createPublicClient({ transport: http(anvil.rpcUrl) })
const open = () => createEvmChain({ ...anvil, routers: [deployment.router], requestTimeoutMs: 600_000 })
const order = { integrationAddress: integration, receiver, amount: 1_000_000n, memo: 'order-1' }

async function find(txHash: string) {
  await client.waitForTransactionReceipt({ hash: txHash as `0x${string}`, pollingInterval: 20 })
  const { fate, blockNumber } = await open().transactionFate(txHash)
  const { payments } = await readAll(open(), blockNumber ?? 0, blockNumber ?? 0)
  return { fate, payment: payments.find((payment) => payment.txHash === txHash) }
}

test('the addresses are those of every fresh chain', () => {
  expect(deployment.router).toEqual({ address: '0x5fbdb2315678afecb367f032d93f642f64180aa3', version: '0.8' })
  expect(payer.address).toBe(deriveDevAccount(1).address.toLowerCase())
})

test('a payment names its integration and carries memo, amount and fee', async () => {
  const { fate, payment } = await find(await payer.pay(order))
  expect(fate).toBe('succeeded')
  expect(payment).toMatchObject({
    ...{ integrationAddress: integration, sender: payer.address, receiver },
    memoHex: stringToHex('order-1', { size: 32 }),
    tokenOut: { ...deployment.tokens.usdc, gross: 1_000_000n, net: 998_000n },
  })
})

test('other tokens, native coins, no memo and no integration are paid too', async () => {
  const { dai } = deployment.tokens
  const inDai = await find(await payer.pay({ ...order, token: dai.address.toUpperCase().replace('0X', '0x') }))
  expect(inDai.payment?.tokenOut).toMatchObject(dai)
  const bare = { ...order, integrationAddress: null, memo: '', token: nativeTokenAddress }
  const { payment } = await find(await payer.pay(bare))
  expect(payment).toMatchObject({ integrationAddress: null, memoHex: `0x${'00'.repeat(32)}` })
  expect(payment?.tokenOut).toMatchObject({ symbol: 'ETH', gross: 1_000_000n, net: 1_000_000n })
})

test('many payments at once are all made', async () => {
  const pendingHashes = Array.from({ length: 12 }, (_, index) => payer.pay({ ...order, memo: `many-${index}` }))
  const hashes = await Promise.all(pendingHashes)
  expect(new Set(hashes).size).toBe(12)
  for (const hash of hashes) expect((await find(hash)).payment?.txHash).toBe(hash)
})

test.each([
  ['an amount of 0', { amount: 0n }, RangeError],
  ['a memo above 32 bytes', { memo: 'é'.repeat(17) }, RangeError],
  ['a receiver that is none', { receiver: 'bob' }, TypeError],
  ['a token that is none', { token: 'USDC' }, TypeError],
  ['an integration that is none', { integrationAddress: '0xaa' }, TypeError],
])('%s is rejected, and the payer pays on afterwards', async (_, changes, kind) => {
  await expect(payer.pay({ ...order, ...changes })).rejects.toThrow(kind)
  expect((await find(await payer.pay(order))).fate).toBe('succeeded')
})

test('a payment that the node rejects rejects, and the next one is made', async () => {
  const broke = { ...order, token: nativeTokenAddress, amount: 10n ** 30n }
  await expect(payer.pay(broke)).rejects.toMatchObject({ name: 'DevChainError', code: 'ERR_DEV_CHAIN' })
  expect((await find(await payer.pay(order))).fate).toBe('succeeded')
})

test('a payment whose answer was lost on the way does not stop the next one', async () => {
  const rpcUrl = `${front.url}/k3y-of-the-node`
  const cautious = createPayer({ ...anvil, rpcUrl, deployment, account: deriveDevAccount(2) })
  await cautious.pay(order)
  front.intercept = async ({ methods, forward }, response) => {
    const text = await forward()
    return methods.includes('eth_sendRawTransaction') ? response.destroy() : text
  }
  const error = await cautious.pay(order).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'ERR_DEV_CHAIN', message: expect.stringContaining('Chain 31337') })
  expect((error as Error).stack).not.toContain('k3y-of-the-node')
  front.intercept = passOn
  expect((await find(await cautious.pay(order))).fate).toBe('succeeded')
})

test('a signal that aborted before sends nothing; one that aborts on the way ends the wait, and the next payment is made', async () => {
  const reason = new Error('enough')
  const impatient = createPayer({ ...anvil, rpcUrl: front.url, deployment, account: deriveDevAccount(3) })
  const work = () => expect(impatient.pay(order, AbortSignal.abort(reason))).rejects.toBe(reason)
  expect(await front.during(work)).toEqual([])
  const controller = new AbortController()
  front.intercept = (request) => {
    controller.abort(reason)
    return request.forward()
  }
  await expect(impatient.pay(order, controller.signal)).rejects.toBe(reason)
  front.intercept = passOn
  expect((await find(await impatient.pay(order))).fate).toBe('succeeded')
})
