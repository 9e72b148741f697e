import { describe, expect, test } from 'vitest'
import { rewriting, useFront } from '../../test/front.js'
import { readAll } from '../../test/read-all.js'
import { payData, receiver, useTestChain } from '../../test/test-chain.js'
import { devRouter } from '../dev/contracts.generated.js'
import { createEvmChain } from '../evm-chain.js'

const memo = `0x${'11'.repeat(32)}` as const
const node = await useTestChain()
const front = await useFront(node.rpcUrl)
const router = await node.deploy(devRouter, [receiver])
const token = await node.fund('USDC', 6, router)
const routers = [{ address: router, version: '0.8' }]
const open = () =>
  createEvmChain({ chainId: 31337, rpcUrl: front.url, routers, proof: 'none', requestTimeoutMs: 600_000 })
const from = await node.mine()
// Each is charged a fee: an uncharged one would need its receipt as well.
for (const amount of [1_000n, 1_001n, 1_002n]) await node.send({ to: router, data: payData(amount, { token, memo }) })
await node.mine()
const to = await node.mine(2)

const changeLogs = (change: (log: object, index: number) => object) =>
  front.lie('eth_getLogs', (logs: object[]) => logs.map(change))
/** Replaces fields of every object that a method answers. */
const setFields = (method: string, fields: object) => front.lie(method, (found: object) => ({ ...found, ...fields }))

const unavailable = { name: 'ChainError', code: 'ERR_CHAIN_UNAVAILABLE', retryable: true, chainId: 31337 }
const rangeGone = { ...unavailable, code: 'ERR_CHAIN_RANGE_GONE' }

test.each([
  ['a rejected batch', 413, '{"error":{"code":-32600,"message":"batch"}}', '-32600'],
  ['an empty body', 200, '', 'eth_chainId did not return a number'],
  ['an empty list', 200, '[]', 'eth_chainId did not return a number'],
])('%s is an error, never an empty range', async (_, status, body, expected) => {
  const chain = open()
  await chain.head()
  front.intercept = (_request, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  const { head, block, transactionFate } = chain
  for (const read of [() => readAll(chain, from, to), () => head(), () => block(to), () => transactionFate(memo)])
    await expect(read()).rejects.toMatchObject(unavailable)
  await expect(head()).rejects.toMatchObject({ message: expect.stringContaining(expected) })
})

describe('a chain that moves while it is read', () => {
  test('the last header changes', async () => {
    let reads = 0
    front.lie('eth_getBlockByNumber', (block: { number: string }) => {
      if (Number(block.number) === to) reads += 1
      return reads < 2 ? block : { ...block, hash: memo }
    })
    await expect(readAll(open(), from, to)).rejects.toMatchObject(rangeGone)
  })

  test('the last header vanishes', async () => {
    front.intercept = ({ methods, isBatch, forward }) =>
      methods[0] === 'eth_getBlockByNumber' && !isBatch ? '{"jsonrpc":"2.0","id":1,"result":null}' : forward()
    await expect(readAll(open(), from, to)).rejects.toMatchObject(rangeGone)
  })

  test.each([
    ['is marked as removed', (log: object) => ({ ...log, removed: true })],
    ['is of a block outside the range', (log: object) => ({ ...log, blockNumber: `0x${(to + 1).toString(16)}` })],
    ['has another hash than the next', (log: object, at: number) => (at === 1 ? { ...log, blockHash: memo } : log)],
    ['has another hash than the header', (log: object) => ({ ...log, blockNumber: `0x${to.toString(16)}` })],
    ['is in another block than its transaction', (log: object) => ({ ...log, blockHash: memo })],
  ])('a log %s', async (_, change) => {
    changeLogs(change)
    await expect(readAll(open(), from, to)).rejects.toMatchObject(rangeGone)
  })

  test('a block without a time on its logs is another one when its header is read', async () => {
    const withoutTimes = (logs: object[]) => logs.map((log) => ({ ...log, blockTimestamp: undefined }))
    front.intercept = rewriting((item, { method }) => {
      if (method === 'eth_getLogs') return { ...item, result: withoutTimes(item.result as object[]) }
      const block = item.result as { readonly number?: string } | undefined
      return Number(block?.number) === from + 1 ? { ...item, result: { ...block, hash: memo } } : item
    })
    await expect(readAll(open(), from, to)).rejects.toMatchObject(rangeGone)
  })

  test('eth_getTransactionByHash answers null, or a pending transaction', async () => {
    const method = 'eth_getTransactionByHash'
    front.lie(method, () => null)
    await expect(readAll(open(), from, to)).rejects.toMatchObject(rangeGone)
    setFields(method, { blockHash: null })
    await expect(readAll(open(), from, to)).rejects.toMatchObject(rangeGone)
  })
})

describe('a node that answers garbage', () => {
  test('a batch with the same transaction three times', async () => {
    let first: object | undefined
    front.lie('eth_getTransactionByHash', (found: object) => {
      first ??= found
      return first
    })
    await expect(readAll(open(), from, to)).rejects.toMatchObject(unavailable)
  })

  test.each([true, false])('log indexes within each transaction are read, with its own index: %s', async (hasPlace) => {
    const expected = (await readAll(open(), from, to)).payments
    expect(new Set(expected.map(({ txHash }) => txHash)).size).toBe(3)
    changeLogs((log) => ({ ...log, logIndex: '0x1', ...(hasPlace ? {} : { transactionIndex: undefined }) }))
    const { payments } = await readAll(open(), from, to)
    expect(payments).toEqual(expected.map((payment) => ({ ...payment, logIndex: 1 })))
  })

  test.each([
    ['no list', () => ({})],
    ['null', () => null],
    ['logs that are null', () => [null]],
    ['a log twice', (logs: unknown[]) => [...logs, logs[0]]],
    ['a log without address', ([log]: object[]) => [{ ...log, address: '0x1' }]],
    ['a log whose topics are no list', ([log]: object[]) => [{ ...log, topics: memo }]],
    ['a log whose data is no hex', ([log]: object[]) => [{ ...log, data: 'xyz' }]],
    ['a log without height', ([log]: object[]) => [{ ...log, blockNumber: null }]],
    ['a pending log', ([log]: object[]) => [{ ...log, blockHash: null }]],
    ['a log without transaction', ([log]: object[]) => [{ ...log, transactionHash: undefined }]],
  ])('eth_getLogs answers %s', async (_, change) => {
    front.lie('eth_getLogs', change)
    await expect(readAll(open(), from, to)).rejects.toMatchObject(unavailable)
  })

  test.each([
    ['hash', '0x12'],
    ['parentHash', null],
    ['number', 'latest'],
    ['timestamp', undefined],
    ['number', '0x1'],
  ])('a block with %s %j', async (field, value) => {
    setFields('eth_getBlockByNumber', { [field]: value })
    await expect(readAll(open(), from, to)).rejects.toMatchObject(unavailable)
    await expect(open().block(from)).rejects.toMatchObject(unavailable)
  })

  test.each([
    ['input', 'nothing'],
    ['from', null],
    ['to', '0x12'],
    ['value', '0x'],
    ['value', '12'],
    ['hash', null],
  ])('a transaction with %s %j', async (field, value) => {
    setFields('eth_getTransactionByHash', { [field]: value })
    await expect(readAll(open(), from, to)).rejects.toMatchObject(unavailable)
  })

  test('an unrequested log is left out', async () => {
    changeLogs((log, index) => (index === 0 ? { ...log, address: receiver } : log))
    expect((await readAll(open(), from, to)).payments).toHaveLength(2)
  })

  test.each([
    ['no time', (log: object) => ({ ...log, blockTimestamp: undefined })],
    ['time 0', (log: object) => ({ ...log, blockTimestamp: '0x0' })],
    ['a time outside the range', (log: object) => ({ ...log, blockTimestamp: '0x1' })],
  ])('logs with %s take it from one header per block', async (_, change) => {
    const chain = open()
    const expected = await readAll(chain, from, to)
    changeLogs(change)
    const requests = await front.during(async () => expect(await readAll(chain, from, to)).toEqual(expected))
    expect(requests.flat().filter((method) => method === 'eth_getBlockByNumber')).toHaveLength(4)
  })

  test('a transaction that has data instead of input is read', async () => {
    front.lie('eth_getTransactionByHash', ({ input, ...rest }: { input: string }) => ({ ...rest, data: input }))
    expect((await readAll(open(), from, to)).payments).toHaveLength(3)
  })

  test.each([
    ['a status that is none', { status: '0x2' }],
    ['no status', { status: undefined }],
    ['another hash', { transactionHash: memo }],
    ['no block', { blockNumber: null }],
    ['logs that are no list', { logs: null }],
  ])('a receipt with %s', async (_, change) => {
    const [payment] = (await readAll(open(), from, to)).payments
    setFields('eth_getTransactionReceipt', change)
    await expect(open().transactionFate(payment?.txHash ?? '')).rejects.toMatchObject(unavailable)
  })
})

test('one request reads headers and logs, one the transactions, and nothing is requested twice', async () => {
  const chain = open()
  await readAll(chain, from, to)
  expect(await front.during(() => readAll(chain, from, to))).toEqual([
    ['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockByNumber', 'eth_getLogs'],
    ['eth_getTransactionByHash', 'eth_getTransactionByHash', 'eth_getTransactionByHash'],
    ['eth_getBlockByNumber'],
  ])
})
