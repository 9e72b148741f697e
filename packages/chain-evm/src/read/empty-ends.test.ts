/** Logs that a node leaves out although its own header says that they are there. */
import { describe, expect, test } from 'vitest'
import { type FrontCall, type Item, rewriting } from '../../test/front.js'
import { openProofChain } from '../../test/proof-chain.js'
import { readAll } from '../../test/read-all.js'

const full = `0x${'ff'.repeat(256)}`
const unavailable = { name: 'ChainError', code: 'ERR_CHAIN_UNAVAILABLE' }

const chain = await openProofChain()
const { front, node } = chain
const open = () => chain.open({ proof: 'none' })
// Heights of two blocks with a payment each, of a block with another transaction between them, and of an empty one.
const first = await chain.block(1)
const other = await chain.strange()
const last = await chain.block(1)
const quiet = await node.mine()
const height = `0x${last.toString(16)}`
const { logsBloom: paidBloom } = await node.block(last)

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
    const message = expect.stringContaining(`block ${last}`)
    await expect(readAll(open(), last, last)).rejects.toMatchObject({ ...unavailable, message })
  })

  const ranges: Record<string, [from: number, to: number]> = { first: [first, quiet], last: [other - 2, last] }
  test.each(Object.entries(ranges))('is rejected when the %s block of a range lacks its logs', async (_, ends) => {
    front.intercept = rewriting(withoutLogs('everywhere'))
    await expect(readAll(open(), ...ends)).rejects.toMatchObject(unavailable)
  })

  test('is rejected when logs of the other end came', async () => {
    chain.lie('eth_getLogs', (logs: { blockNumber: string }[]) => logs.filter((log) => log.blockNumber !== height))
    await expect(readAll(open(), first, last)).rejects.toMatchObject(unavailable)
  })

  test('is rejected if the filter is too full and eth_getLogs by block hash has logs', async () => {
    front.intercept = joined(withoutLogs('in ranges'), withFilter(full))
    await expect(readAll(open(), last, last)).rejects.toMatchObject(unavailable)
  })
})

describe('a false positive of a filter does not stop the chain', () => {
  const blocks = { 'an empty block': quiet, 'a block with another transaction': other }
  test.each(Object.entries(blocks))('%s with the filter of a payment, or with all bits set', async (_, height) => {
    for (const filter of [paidBloom, full]) {
      front.intercept = rewriting(withFilter(filter))
      expect((await readAll(open(), height, height)).payments).toEqual([])
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
  const opened = open()
  await opened.head()
  const requests = await front.during(async () => {
    for (const at of [quiet, other]) await readAll(opened, at, at)
  })
  const once = [['eth_chainId', 'eth_getBlockByNumber', 'eth_getLogs'], ['eth_getBlockByNumber']]
  expect(requests).toEqual([...once, ...once])
})

/** A node that answers one method in another way. */
const instead = (method: string, change: (item: Item) => Item) => (item: Item, call: FrontCall) =>
  call.method === method ? change(item) : item
const withFields = (fields: object) => (item: Item) => ({ ...item, result: { ...(item.result as object), ...fields } })
const failed = ({ id }: Item) => ({ id, error: { code: -32602, message: 'no' } })
const otherHash = full.slice(0, 66)

test.each([
  ['a receipt fails', 'TransactionReceipt', failed, 'UNAVAILABLE'],
  ['a receipt is missing', 'TransactionReceipt', ({ id }: Item) => ({ id, result: null }), 'RANGE_GONE'],
  ['a receipt is of another block', 'TransactionReceipt', withFields({ blockHash: otherHash }), 'RANGE_GONE'],
  ['a receipt is of another one', 'TransactionReceipt', withFields({ transactionHash: otherHash }), 'UNAVAILABLE'],
  ['the header has no transactions', 'BlockByNumber', withFields({ transactions: null }), 'UNAVAILABLE'],
  ['its transactions are no hashes', 'BlockByNumber', withFields({ transactions: [{}] }), 'UNAVAILABLE'],
])('while nothing decides, the block is read again: %s', async (_, what, change, code) => {
  front.intercept = joined(withFilter(paidBloom), instead(`eth_get${what}`, change))
  await expect(readAll(open(), other, other)).rejects.toMatchObject({ code: `ERR_CHAIN_${code}` })
})

test('receipts decide for a node without eth_getLogs by block hash', async () => {
  const noHash: Change = (item, call) => (call.method === 'eth_getLogs' && byHash(call) ? failed(item) : item)
  front.intercept = joined(withFilter(full), noHash)
  expect((await readAll(open(), other, other)).payments).toEqual([])
  front.intercept = joined(withFilter(full), noHash, withoutLogs('in ranges'))
  await expect(readAll(open(), last, last)).rejects.toMatchObject(unavailable)
})
