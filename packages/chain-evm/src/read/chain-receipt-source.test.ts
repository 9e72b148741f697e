import { processorUpdateSchema } from '@payment-integration/contract'
import type { Chain, StoredPayment } from '@payment-integration/core/ports'
import { describe, expect, test, vi } from 'vitest'
import { readStored } from '../../test/read-all.js'
import { payData, receiver, useTestChain } from '../../test/test-chain.js'
import { devRouter } from '../dev/contracts.generated.js'
import { createEvmChain } from '../evm-chain.js'
import { createChainReceiptSource } from './chain-receipt-source.js'

const integration = '0x00000000000000000000000000000000000000aa'
const node = await useTestChain()
const router = await node.deploy(devRouter, [receiver])
const routers = [{ address: router, version: '0.8' }]
const chain = createEvmChain({ chainId: 31337, rpcUrl: node.rpcUrl, routers, requestTimeoutMs: 600_000 })

async function pay(): Promise<StoredPayment> {
  const { blockNumber } = await node.execute({ to: router, data: payData(5n, { integration }), value: 5n })
  return readStored(chain, blockNumber)
}
const sourceAt = (depth: number | null, of: Chain = chain) =>
  createChainReceiptSource({ chains: new Map([[31337, of]]), confirmations: { 31337: depth } })

describe('a payment on the chain', () => {
  test('has no answer until it is final, then success', async () => {
    const payment = await pay()
    const source = sourceAt(2)
    await node.mine()
    expect(await source.lookup(payment)).toBeNull()
    await node.mine()
    const update = await source.lookup(payment)
    const { txHash } = payment
    expect(update).toMatchObject({ chainId: '31337', txHash, integrationAddress: integration, state: 'success' })
    expect(processorUpdateSchema.safeParse(update).success).toBe(true)
  })

  test('has another update id than another payment', async () => {
    const payment = await pay()
    const first = await sourceAt(0).lookup(payment)
    expect((await sourceAt(0).lookup(await pay()))?.id).not.toBe(first?.id)
    const unnamed = await sourceAt(0).lookup({ ...payment, integrationAddress: null })
    expect(unnamed?.id).not.toBe(first?.id)
    expect(unnamed).not.toHaveProperty('integrationAddress')
  })

  test('that was reverted is a failure once final', async () => {
    const payment = await pay()
    const { hash } = await node.execute({ to: router, data: '0x12345678' })
    const reverted = { ...payment, txHash: hash }
    expect(await sourceAt(1).lookup(reverted)).toBeNull()
    await node.mine()
    expect(await sourceAt(1).lookup(reverted)).toMatchObject({ state: 'failure', txHash: hash })
  })
})

test('a payment that left the chain has no answer, and is a success once it is back and final in its new block', async () => {
  const payment = await pay()
  const raw = await node.rpc<string>('debug_getRawTransaction', payment.txHash)
  await node.rpc('anvil_reorg', 1, [])
  await node.rpc('anvil_dropTransaction', payment.txHash).catch(() => null)
  await node.mine(5)
  expect(await sourceAt(3).lookup(payment)).toBeNull()
  await node.rpc('eth_sendRawTransaction', raw)
  await node.mine(3)
  expect(await sourceAt(3).lookup(payment)).toBeNull()
  await node.mine()
  expect(await sourceAt(3).lookup(payment)).toMatchObject({ state: 'success' })
})

describe('there is no answer', () => {
  const invoice = { amount: '1', currency: 'CHF', settlementAmount: '1', settlementCurrency: 'USD' }
  test.each([
    ['that has a state', { state: 'pending' }],
    ['with a recipient', { recipient: { title: 'Shop', subtitle: null } }],
    ['with an invoice', { invoice }],
  ] as const)('for a payment %s, which a processor handles', async (_, changes) => {
    expect(await sourceAt(0).lookup({ ...(await pay()), ...changes })).toBeNull()
  })

  test('for a chain that is not given, one that is never final, and one without a finality row', async () => {
    const payment = await pay()
    await node.mine(3)
    expect(await sourceAt(0).lookup({ ...payment, chainId: 1 })).toBeNull()
    expect(await sourceAt(null).lookup(payment)).toBeNull()
    expect(await createChainReceiptSource({ chains: new Map([[31337, chain]]) }).lookup(payment)).toBeNull()
  })
})

test('a chain of the finality table needs no option', async () => {
  const payment = { ...(await pay()), chainId: 100 }
  const source = createChainReceiptSource({ chains: new Map([[100, chain]]) })
  expect(await source.lookup(payment)).toBeNull()
  await node.mine()
  expect(await source.lookup(payment)).toMatchObject({ chainId: '100', state: 'success' })
})

describe('the scope', () => {
  test('is the payments without a state, of the given chains that have finality', () => {
    const chains = new Map([1, 100, 31337, 31338, 31339].map((chainId) => [chainId, chain]))
    const source = createChainReceiptSource({ chains, confirmations: { 1: null, 31337: 0, 31338: null, 5: 1 } })
    expect(source.scope).toEqual({ states: [null], chainIds: [100, 31337] })
  })

  test('has no states if the caller selects the payments', () => {
    const source = createChainReceiptSource({ chains: new Map([[100, chain]]), appliesTo: () => true })
    expect(source.scope).toEqual({ chainIds: [100] })
  })
})

test('a payment that is not final costs one request for the head', async () => {
  const payment = await pay()
  const transactionFate = vi.fn(chain.transactionFate)
  const counted = { ...chain, transactionFate }
  expect(await sourceAt(1, counted).lookup(payment)).toBeNull()
  expect(transactionFate).not.toHaveBeenCalled()
  await node.mine()
  expect(await sourceAt(1, counted).lookup(payment)).not.toBeNull()
  expect(transactionFate).toHaveBeenCalledOnce()
})

test('appliesTo selects the payments', async () => {
  const payment: StoredPayment = { ...(await pay()), state: 'pending' }
  const chains = new Map([[31337, chain]])
  const appliesTo = ({ state }: StoredPayment) => state === 'pending'
  const source = createChainReceiptSource({ chains, confirmations: { 31337: 0 }, appliesTo })
  expect(await source.lookup(payment)).toMatchObject({ state: 'success' })
  expect(await source.lookup({ ...payment, state: null })).toBeNull()
})

test('an answer that breaks the port is rejected, and is no failure of the payment', async () => {
  const payment = await pay()
  for (const fate of ['success', 'failed', undefined]) {
    const flawed = { ...chain, transactionFate: async () => ({ fate, blockNumber: payment.blockNumber }) }
    const source = sourceAt(0, flawed as unknown as Chain)
    await expect(source.lookup(payment)).rejects.toMatchObject({ code: 'ERR_CHAIN_ADAPTER' })
  }
})

test.each([-1, 0.5, Number.NaN])('confirmations of %d are rejected', (depth) => {
  expect(() => sourceAt(depth)).toThrow(RangeError)
})
