import type { Hex } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Bridged, bridgedOf, fillLog, fillNames } from '../../test/across-logs.js'
import { bridgeDeposit } from '../../test/bridge-deposit.js'
import { testRouter } from '../../test/contracts.generated.js'
import { emits } from '../../test/conversion-chain.js'
import { passOn, useFront } from '../../test/front.js'
import { useTestChain } from '../../test/test-chain.js'
import { devToken } from '../dev/contracts.generated.js'
import { type AcrossDestination, createAcrossFulfillmentSource } from './across-fulfillment-source.js'

const chainId = 31337
const node = await useTestChain()
const front = await useFront(node.rpcUrl)
const pool = await node.deploy(testRouter)
const token = await node.deploy(devToken, ['ARRIVED', 6])

let nextId = 100
/** A deposit of now, with a number of its own. */
async function newDeposit() {
  nextId += 1
  const { timestamp } = await node.block()
  const payment = { blockTimestamp: Number(timestamp) * 1_000 }
  return bridgeDeposit({ depositId: String(nextId), output: { token, amount: 490n }, payment })
}
type Deposit = Awaited<ReturnType<typeof newDeposit>>

const makeFill = (deposit: Deposit, changes: Partial<Bridged> = {}, name: (typeof fillNames)[number] = 'FilledRelay') =>
  fillLog(name, bridgedOf(deposit, changes))
const fill = (...args: Parameters<typeof makeFill>) => node.execute({ to: pool, data: emits(makeFill(...args)) })

function open(given: Partial<AcrossDestination> & { readonly windowMs?: number } = {}) {
  const { windowMs, ...destination } = given
  const nodes = [{ url: front.url }]
  const tokens = [{ address: token, symbol: 'ARRIVED', currency: 'USD' }]
  const chains = new Map([[chainId, { nodes, spokePool: pool, confirmations: 0, tokens, ...destination }]])
  return createAcrossFulfillmentSource({ chains, windowMs })
}

describe.each(fillNames)('a fill by %s', (name) => {
  test('is found, with its block, its transaction and the token that arrived', async () => {
    const deposit = await newDeposit()
    const source = open()
    expect(await source.lookup(deposit)).toBeNull()
    const { hash, blockNumber, blockHash } = await fill(deposit, {}, name)
    const { timestamp } = await node.block()
    await node.mine(3)
    const fulfillment = {
      ...{ chainId, txHash: hash, logIndex: 0, position: 0, blockNumber, blockHash, receiver: deposit.receiver },
      blockTimestamp: Number(timestamp) * 1_000,
      tokenOut: { address: token, symbol: 'ARRIVED', decimals: 6, amount: 490n },
      listedToken: { symbol: 'ARRIVED', currency: 'USD' },
    }
    expect(await source.lookup(deposit)).toEqual(fulfillment)
    expect(await source.lookup(deposit)).toEqual(fulfillment)
    expect(await open({ tokens: [] }).lookup(deposit)).toEqual({ ...fulfillment, listedToken: null })
  })

  test('of less is none, and the true one behind it is found', async () => {
    const deposit = await newDeposit()
    const source = open()
    await fill(deposit, { updatedOutputAmount: 489n }, name)
    expect(await source.lookup(deposit)).toBeNull()
    const { hash } = await fill(deposit, { updatedOutputAmount: 491n }, name)
    expect(await source.lookup(deposit)).toMatchObject({ txHash: hash, tokenOut: { amount: 491n } })
  })
})

test("a fill is rejected while the header's time does not match the block hash, and found once it does", async () => {
  const deposit = await newDeposit()
  const { hash, blockNumber } = await fill(deposit)
  await node.mine(3)
  const source = open()
  front.lie('eth_getBlockByNumber', (block: { readonly number: string }) =>
    Number(block.number) === blockNumber ? { ...block, timestamp: '0x7fffffff' } : block,
  )
  await expect(source.lookup(deposit)).rejects.toMatchObject({ code: 'ERR_CHAIN_PROOF_FAILED', chainId })
  front.intercept = passOn
  expect(await source.lookup(deposit)).toMatchObject({ txHash: hash })
})

test('two deposits filled in one transaction have different positions', async () => {
  const [first, second] = [await newDeposit(), await newDeposit()]
  const { hash } = await node.execute({ to: pool, data: emits(makeFill(second), makeFill(first)) })
  const source = open()
  expect(await source.lookup(first)).toMatchObject({ txHash: hash, logIndex: 1, position: 1 })
  expect(await source.lookup(second)).toMatchObject({ txHash: hash, logIndex: 0, position: 0 })
})

test('a fill counts exactly from its number of confirmations on', async () => {
  const deposit = await newDeposit()
  const source = open({ confirmations: 3 })
  const { hash } = await fill(deposit)
  await node.mine(2)
  expect(await source.lookup(deposit)).toBeNull()
  await node.mine(1)
  expect(await source.lookup(deposit)).toMatchObject({ txHash: hash })
})

test('a deposit of another bridge, or to an unlisted chain, gets null without a request', async () => {
  const source = open()
  const requests = await front.during(async () => {
    for (const change of [{ bridge: 'other' }, { destinationChainId: 10 }])
      expect(await source.lookup({ ...(await newDeposit()), ...change })).toBeNull()
  })
  expect(requests).toEqual([])
})

describe('the search', () => {
  let deposit: Deposit
  /** The ranges of blocks whose logs were asked for. */
  let askedRanges: [number, number][]
  beforeEach(async () => {
    // Long before the deposit, and behind it: the times of the blocks tell both.
    for (const seconds of [3_600, 300]) {
      await node.rpc('evm_increaseTime', seconds)
      await node.mine()
    }
    deposit = await newDeposit()
    await node.rpc('anvil_mine', '0x12c')
    askedRanges = []
    front.intercept = ({ calls, forward }) => {
      for (const { method, params } of calls)
        if (method === 'eth_getLogs') {
          const { fromBlock, toBlock } = params[0] as { fromBlock: Hex; toBlock: Hex }
          askedRanges.push([Number(fromBlock), Number(toBlock)])
        }
      return forward()
    }
  })
  const head = async () => Number(await node.rpc<Hex>('eth_blockNumber'))

  test('resumes where it stopped, and reads the newest 256 blocks again', async () => {
    const source = open()
    await source.lookup(deposit)
    const first = await head()
    expect(askedRanges.at(-1)?.[1]).toBe(first)
    await node.mine(5)
    askedRanges.length = 0
    await source.lookup(deposit)
    expect(askedRanges).toEqual([[first - 255, first + 5]])
  })

  test('ends after the window: all blocks are read once more, and then no request is sent', async () => {
    const source = open({ windowMs: 1_800_000 })
    await source.lookup(deposit)
    const last = await head()
    await node.rpc('evm_increaseTime', 3_600)
    await node.mine(2)
    await source.lookup(deposit)
    const [first, second] = askedRanges
    expect(askedRanges).toHaveLength(2)
    expect(second).toEqual([first?.[0], last + 1])
    expect(await front.during(async () => expect(await source.lookup(deposit)).toBeNull())).toEqual([])
  })

  test('starts again after a found fill is gone, because a reorg may move it to an earlier block', async () => {
    const source = open()
    expect(await source.lookup(deposit)).toBeNull()
    const before = await node.rpc('evm_snapshot')
    await node.rpc('anvil_mine', '0x200')
    expect(await source.lookup(deposit)).toBeNull()
    const { hash } = await fill(deposit)
    expect(await source.lookup(deposit)).toMatchObject({ txHash: hash })
    await node.rpc('evm_revert', before)
    const other = await fill(deposit, { updatedOutputAmount: 491n })
    await node.rpc('anvil_mine', '0x210')
    expect(await source.lookup(deposit)).toBeNull()
    expect(await source.lookup(deposit)).toMatchObject({ txHash: other.hash })
  })

  test('stops after 64 requests for logs, and resumes at the next look-up', async () => {
    const source = open({ windowMs: 1_800_000 })
    await node.rpc('evm_increaseTime', 3_600)
    await node.mine(2)
    const note = front.intercept
    front.intercept = (request, response) => {
      const sent = note(request, response)
      const [from, to] = askedRanges.at(-1) ?? [0, 0]
      if (!request.methods.includes('eth_getLogs') || to - from < 2) return sent
      return JSON.stringify(request.calls.map((_, index) => ({ id: index, error: { code: -32_000, message: 'no' } })))
    }
    const perLookup: number[] = []
    for (let before = -1; perLookup.length < 60 && front.requests.length > before; perLookup.push(askedRanges.length)) {
      before = front.requests.length
      askedRanges.length = 0
      await source.lookup(deposit).catch(() => {
        before = -1
      })
    }
    expect(Math.max(...perLookup)).toBe(64)
    expect(perLookup.at(-1)).toBe(0)
  })

  test('starts ten minutes before the deposit, by block time', async () => {
    await open().lookup(deposit)
    const from = askedRanges[0]?.[0] ?? 0
    const [before, first] = await Promise.all([node.block(from - 1), node.block(from)])
    const begin = deposit.payment.blockTimestamp - 600_000
    expect([before, first].map(({ timestamp }) => Number(timestamp) * 1_000 >= begin)).toEqual([false, true])
  })
})

describe('a node', () => {
  test.each<[string, string, (result: object) => unknown, string]>([
    ['has no receipt of the fill', 'TransactionReceipt', () => null, 'RANGE_GONE'],
    ['has a receipt without it', 'TransactionReceipt', (receipt) => ({ ...receipt, logs: [] }), 'RANGE_GONE'],
    ['has a receipt of a reverted one', 'TransactionReceipt', (it) => ({ ...it, status: '0x0' }), 'RANGE_GONE'],
    ['answers the logs with nonsense', 'Logs', () => 'nothing', 'UNAVAILABLE'],
  ])('that %s is not trusted, and the fill is found as soon as it answers', async (_, method, change, code) => {
    const deposit = await newDeposit()
    const { hash } = await fill(deposit)
    const source = open()
    front.lie(`eth_get${method}`, change)
    await expect(source.lookup(deposit)).rejects.toMatchObject({ code: `ERR_CHAIN_${code}` })
    front.intercept = passOn
    expect(await source.lookup(deposit)).toMatchObject({ txHash: hash })
  })

  test('that answers logs of other contracts is ignored', async () => {
    const deposit = await newDeposit()
    const stranger = await node.deploy(testRouter)
    const { blockNumber } = await node.execute({ to: stranger, data: emits(makeFill(deposit)) })
    const at = `0x${blockNumber.toString(16)}`
    const others = await node.rpc<unknown[]>('eth_getLogs', { fromBlock: at, toBlock: at })
    expect(others).toHaveLength(1)
    front.lie('eth_getLogs', () => others)
    expect(await open().lookup(deposit)).toBeNull()
  })
})

test.each<[string, Partial<AcrossDestination>, number, ErrorConstructor, RegExp]>([
  ['a SpokePool that is no address', { spokePool: '0x12' }, 1, TypeError, /SpokePool/],
  ['no SpokePool for a chain where none is known', { spokePool: undefined }, 100, TypeError, /SpokePool of chain 100/],
  ['no confirmations for a chain that is in no table', { confirmations: undefined }, 8453, RangeError, /chain 8453/],
  ['confirmations that are not whole', { confirmations: 0.5 }, 1, RangeError, /confirmations/],
  ['no node', { nodes: [] }, 1, TypeError, /node/],
])('%s is rejected at once', (_, changes, id, error, message) => {
  const destination = { nodes: [{ url: 'http://127.0.0.1:1' }], spokePool: pool, confirmations: 0, ...changes }
  const options = { chains: new Map([[id, destination]]) }
  expect(() => createAcrossFulfillmentSource(options)).toThrow(error)
  expect(() => createAcrossFulfillmentSource(options)).toThrow(message)
})

test('a known chain needs only nodes', () => {
  const nodes = [{ url: 'http://127.0.0.1:1' }]
  createAcrossFulfillmentSource({ chains: new Map([[42161, { nodes }]]) }).close()
})
