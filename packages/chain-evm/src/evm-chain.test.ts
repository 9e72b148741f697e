import { createWalletClient, http, stringToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { testRouter } from '../test/contracts.generated.js'
import { readAll } from '../test/read-all.js'
import { payData, payer, receiver, useTestChain } from '../test/test-chain.js'
import { encodeIntegrationSuffix } from './decode/integrations.js'
import { devRouter } from './dev/contracts.generated.js'
import { deriveDevAccount, toViemChain } from './dev/dev-chain.js'
import type { EvmChainOptions } from './evm-chain.js'
import { createEvmChain } from './evm-chain.js'
import type { QuarantinedLog } from './read/range-reader.js'

const treasury = '0x00000000000000000000000000000000000000fe'
const integration = '0x00000000000000000000000000000000000000aa'
const memo = stringToHex('order-1', { size: 32 })

const node = await useTestChain()
const router = await node.deploy(devRouter, [treasury])
const stray = await node.deploy(testRouter)
const token = await node.fund('USDC', 6, router)
const routers = [
  { address: router, version: '0.8' },
  { address: stray, version: '0.6' },
]
const open = (options: Partial<EvmChainOptions> = {}) =>
  createEvmChain({ chainId: 31337, rpcUrl: node.rpcUrl, routers, requestTimeoutMs: 600_000, ...options })
const pay = (amount: bigint) => ({ to: router, data: payData(amount, { token, memo }) })

describe('a payment', () => {
  test('is read whole, with the integration address that a viem wallet appended', async () => {
    const account = deriveDevAccount(0)
    const wallet = createWalletClient({ account, chain: toViemChain(node), transport: http(node.rpcUrl) })
    const dataSuffix = encodeIntegrationSuffix(integration)
    const txHash = await wallet.sendTransaction({ ...pay(1_000_000n), dataSuffix, gas: 300_000n })
    const height = await node.mine()
    const block = await node.block(height)
    const { first, last, payments } = await readAll(open(), height, height)
    const timestamp = Number(block.timestamp) * 1000
    expect(last).toEqual({ number: height, hash: block.hash, parentHash: block.parentHash, timestamp })
    expect(first).toEqual(last)
    const usdc = { address: token, symbol: 'USDC', decimals: 6 }
    expect(payments).toEqual([
      {
        ...{ chainId: 31337, txHash, ordinal: 0, logIndex: 2 },
        ...{ blockNumber: height, blockHash: block.hash, blockTimestamp: timestamp },
        router: { address: router, version: '0.8' },
        ...{ sender: payer, receiver, memoHex: memo, integrationAddress: integration },
        source: { chainId: 31337, txHash },
        tokenIn: { ...usdc, amount: 1_000_000n },
        tokenOut: { ...usdc, gross: 1_000_000n, net: 998_000n },
        pricing: { listedToken: null, feeds: [], calledAmount: null, serviceFee: null },
      },
    ])
  })

  test('comes in order over many blocks, with the time of its own block in milliseconds', async () => {
    await node.rpc('evm_setNextBlockTimestamp', 1_800_000_017)
    await node.send(pay(1n))
    await node.send(pay(2n))
    const from = await node.mine()
    await node.mine(2)
    await node.rpc('evm_setNextBlockTimestamp', 1_900_000_000)
    const { blockNumber: to, hash } = await node.execute(pay(3n))
    await node.mine()
    const { payments } = await readAll(open(), from, to + 1)
    expect(payments.map(({ tokenOut }) => tokenOut.gross)).toEqual([1n, 2n, 3n])
    expect(payments.at(-1)).toMatchObject({ blockNumber: to, txHash: hash })
    const times = [1_800_000_017_000, 1_800_000_017_000, 1_900_000_000_000]
    expect(payments.map(({ blockTimestamp }) => blockTimestamp)).toEqual(times)
  })
})

describe('several payments in one transaction', () => {
  test('are numbered by log index, and malformed logs between them are reported and not counted', async () => {
    const quarantined: QuarantinedLog[] = []
    const { blockNumber, hash } = await node.call(testRouter, stray, 'emitMany', [3, receiver, token, 10, true])
    const { payments } = await readAll(open({ onQuarantine: (log) => quarantined.push(log) }), blockNumber, blockNumber)
    expect(payments.map(({ ordinal, logIndex }) => [ordinal, logIndex])).toEqual([
      [0, 1],
      [1, 3],
      [2, 5],
    ])
    expect(new Set(payments.map(({ txHash }) => txHash))).toEqual(new Set([hash]))
    expect(quarantined.map(({ logIndex }) => logIndex)).toEqual([0, 2, 4])
    expect(quarantined[0]).toEqual({
      ...{ chainId: 31337, txHash: hash, blockNumber, logIndex: 0, reason: 'expected 3 topics, got 1' },
      router: { address: stray, version: '0.6' },
    })
  })

  test('are read even if onQuarantine throws', async () => {
    const { blockNumber } = await node.call(testRouter, stray, 'emitMany', [1, receiver, token, 10, true])
    const onQuarantine = () => {
      throw new Error('watcher')
    }
    expect((await readAll(open({ onQuarantine }), blockNumber, blockNumber)).payments).toHaveLength(1)
  })
})

test('a reverted transaction is no payment, and its fate is known; a pending one is unknown', async () => {
  const { hash, blockNumber } = await node.execute(pay(0n))
  const chain = open()
  expect((await readAll(chain, blockNumber, blockNumber)).payments).toEqual([])
  const fate = await chain.transactionFate(hash.toUpperCase().replace('0X', '0x'))
  expect(fate).toEqual({ fate: 'reverted', blockNumber })
  const pending = await node.send(pay(1n))
  expect(await chain.transactionFate(pending)).toEqual({ fate: 'unknown', blockNumber: null })
  await node.mine()
})

describe('a caller’s mistakes', () => {
  test.each([
    ['no URL and no transport', { rpcUrl: undefined }, TypeError],
    ['chain id 0', { chainId: 0 }, RangeError],
    ['a chain id that is not whole', { chainId: 1.5 }, RangeError],
    ['no routers', { routers: [] }, TypeError],
    ['only routers that are not read', { routers: [{ address: receiver, version: '1.0' }] }, TypeError],
    ['a router address that is none', { routers: [{ address: '0x1', version: '0.8' }] }, TypeError],
    ['a router version that is none', { routers: [{ address: receiver, version: 'v8' }] }, TypeError],
    ['a token that is none', { tokens: [{ address: '0x1', symbol: 'USDC', currency: 'USD' }] }, TypeError],
    ['a feed that is none', { priceFeeds: [{ address: token, base: 'A', quote: 'B', decimals: -1 }] }, RangeError],
    ['a SpokePool that is none', { spokePools: ['0x12'] }, TypeError],
    ['a batch size of 0', { batchSize: 0 }, RangeError],
    ['an answer size of 0', { maxResponseBytes: 0 }, RangeError],
  ] as const)('%s', (_, options, kind) => expect(() => open(options)).toThrow(kind))

  test('one router with two versions', () => {
    const routers = [
      { address: receiver, version: '0.8' },
      { address: receiver.toUpperCase().replace('0X', '0x'), version: '0.7' },
    ]
    expect(() => open({ routers })).toThrow('listed with versions 0.8 and 0.7')
  })

  test.each([
    [-1, 1],
    [2, 1],
    [0.5, 1],
    [0, Number.NaN],
  ])('blocks %d to %d', (from, to) => expect(readAll(open(), from, to)).rejects.toThrow(RangeError))

  test('a height or hash in the wrong form', async () => {
    await expect(open().block(-1)).rejects.toThrow(RangeError)
    await expect(open().transactionFate('0x12')).rejects.toThrow(TypeError)
  })
})
