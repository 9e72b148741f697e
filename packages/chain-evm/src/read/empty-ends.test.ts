/** Logs that a node leaves out although its own header says that they are there. */
import { type Address, encodeFunctionData } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { testRouter } from '../../test/contracts.generated.js'
import { type Front, type FrontCall, type Item, openFront, passOn, rewriting } from '../../test/front.js'
import { readAll } from '../../test/read-all.js'
import { startTestChain, type TestChain } from '../../test/test-chain.js'
import type { EvmChainOptions } from '../evm-chain.js'
import { createEvmChain } from '../evm-chain.js'

const receiver = '0x00000000000000000000000000000000000000b2'
const full = `0x${'ff'.repeat(256)}`
const unavailable = { name: 'ChainError', code: 'ERR_CHAIN_UNAVAILABLE' }

let node: TestChain
let front: Front
let router: Address
/** Heights of two blocks with a payment each, of a block with another transaction between them, and of an empty one. */
let first: number
let other: number
let last: number
let quiet: number
let paidBloom: string
const open = (options: Partial<EvmChainOptions> = {}) =>
  createEvmChain({
    chainId: 31337,
    rpcUrl: front.url,
    routers: [{ address: router, version: '0.8' }],
    proof: 'none',
    ...options,
  })

beforeAll(async () => {
  node = await startTestChain()
  front = await openFront(node.rpcUrl)
  router = await node.deploy(testRouter)
  const args = [1n, receiver, receiver, 5n, false] as const
  const pay = { to: router, data: encodeFunctionData({ abi: testRouter.abi, functionName: 'emitMany', args }) }
  first = (await node.execute(pay)).blockNumber
  other = (await node.execute({ to: receiver, value: 1n })).blockNumber
  last = (await node.execute(pay)).blockNumber
  quiet = await node.mine()
  const header = await node.rpc<{ logsBloom: string }>('eth_getBlockByNumber', `0x${last.toString(16)}`, false)
  paidBloom = header.logsBloom
})
afterEach(() => {
  front.intercept = passOn
})
afterAll(async () => {
  await front?.close()
  await node?.stop()
})

const byHash = ({ params }: FrontCall) => 'blockHash' in (params[0] as object)
/** A node without logs: in ranges only, or also for a block that is named by its hash. */
const withoutLogs = (where: 'in ranges' | 'everywhere') => (item: Item, call: FrontCall) =>
  call.method === 'eth_getLogs' && (where === 'everywhere' || !byHash(call)) ? { ...item, result: [] } : item
/** A node whose headers have other filters. */
const withFilter =
  (logsBloom: unknown) =>
  (item: Item, { method }: FrontCall) =>
    method === 'eth_getBlockByNumber' ? { ...item, result: { ...(item.result as object), logsBloom } } : item
type Change = (item: Item, call: FrontCall) => Item
const joined = (...changes: readonly Change[]) =>
  rewriting((item, call) => changes.reduce((changed, change) => change(changed, call), item))

describe('an empty answer for a block whose filter reports logs', () => {
  test.each(['in ranges', 'everywhere'] as const)('is rejected, when the logs are left out %s', async (where) => {
    front.intercept = rewriting(withoutLogs(where))
    await expect(readAll(open(), last, last)).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining(`block ${last}`),
    })
  })

  test.each([
    ['the first', () => [first, quiet]],
    ['the last', () => [other - 2, last]],
  ] as const)('is rejected when %s block of a range lacks its logs', async (_, ends) => {
    front.intercept = rewriting(withoutLogs('everywhere'))
    const [from, to] = ends() as [number, number]
    await expect(readAll(open(), from, to)).rejects.toMatchObject(unavailable)
  })

  test('is rejected when logs of the other end came', async () => {
    const height = `0x${last.toString(16)}`
    front.intercept = rewriting((item, { method }) =>
      method === 'eth_getLogs'
        ? { ...item, result: (item.result as { blockNumber: string }[]).filter((log) => log.blockNumber !== height) }
        : item,
    )
    await expect(readAll(open(), first, last)).rejects.toMatchObject(unavailable)
  })

  test('is rejected if the filter is too full and eth_getLogs by block hash has logs', async () => {
    front.intercept = joined(withoutLogs('in ranges'), withFilter(full))
    await expect(readAll(open(), last, last)).rejects.toMatchObject(unavailable)
  })
})

describe('a false positive of a filter does not stop the chain', () => {
  test.each([
    ['an empty block', () => quiet],
    ['a block with another transaction', () => other],
  ])('%s with the filter of a payment, or with all bits set', async (_, height) => {
    for (const filter of [paidBloom, full]) {
      front.intercept = rewriting(withFilter(filter))
      expect((await readAll(open(), height(), height())).payments).toEqual([])
    }
  })

  test.each([[null], [undefined], ['0x'], ['0x00'], [7]])(
    'a header whose filter is %j is asked nothing',
    async (filter) => {
      front.intercept = rewriting(withFilter(filter))
      expect((await readAll(open(), first, last)).payments).toHaveLength(2)
      front.intercept = joined(withoutLogs('everywhere'), withFilter(filter))
      expect((await readAll(open(), last, last)).payments).toEqual([])
    },
  )
})

test('a block whose filter denies payments costs no further request', async () => {
  const chain = open()
  await chain.head()
  const before = front.requests.length
  await readAll(chain, quiet, quiet)
  await readAll(chain, other, other)
  const once = [['eth_chainId', 'eth_getBlockByNumber', 'eth_getLogs'], ['eth_getBlockByNumber']]
  expect(front.requests.slice(before)).toEqual([...once, ...once])
})

/** A node that answers one method in another way. */
const instead = (method: string, change: (item: Item) => Item) => (item: Item, call: FrontCall) =>
  call.method === method ? change(item) : item
const withFields = (fields: object) => (item: Item) => ({ ...item, result: { ...(item.result as object), ...fields } })
const failed = ({ id }: Item) => ({ id, error: { code: -32602, message: 'no' } })
const otherHash = full.slice(0, 66)

describe('while nothing decides, the block is read again:', () => {
  test.each([
    ['a receipt fails', 'eth_getTransactionReceipt', failed, 'UNAVAILABLE'],
    ['a receipt is missing', 'eth_getTransactionReceipt', ({ id }: Item) => ({ id, result: null }), 'RANGE_GONE'],
    ['a receipt is of another block', 'eth_getTransactionReceipt', withFields({ blockHash: otherHash }), 'RANGE_GONE'],
    [
      'a receipt is of another transaction',
      'eth_getTransactionReceipt',
      withFields({ transactionHash: otherHash }),
      'UNAVAILABLE',
    ],
    ['the header has no transactions', 'eth_getBlockByNumber', withFields({ transactions: null }), 'UNAVAILABLE'],
    ['its transactions are no hashes', 'eth_getBlockByNumber', withFields({ transactions: [{}] }), 'UNAVAILABLE'],
  ])('%s', async (_, method, change, code) => {
    front.intercept = joined(withFilter(paidBloom), instead(method, change))
    await expect(readAll(open(), other, other)).rejects.toMatchObject({ code: `ERR_CHAIN_${code}` })
  })
})

test('receipts decide for a node without eth_getLogs by block hash', async () => {
  const noHash: Change = (item, call) => (call.method === 'eth_getLogs' && byHash(call) ? failed(item) : item)
  front.intercept = joined(withFilter(full), noHash)
  expect((await readAll(open(), other, other)).payments).toEqual([])
  front.intercept = joined(withFilter(full), noHash, withoutLogs('in ranges'))
  await expect(readAll(open(), last, last)).rejects.toMatchObject(unavailable)
})
