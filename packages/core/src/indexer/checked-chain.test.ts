/** Whatever a chain adapter hands over is checked before anything of it is stored. */
import { expect, test } from 'vitest'
import { setUpIndexer } from '../../test/support/indexer-setup.js'
import type { PaymentFacts } from '../payments/payment.js'
import type { BlockRange, BlockRef } from '../ports/chain.js'

const base58 = '5KdQx3V9hGhJwKkWuPa3pC9yq3mQkQ8bQdXb1o8kYzFq'

/** Indexes a chain with two payments in block 1 and one in block 2, whose range an adapter changes. */
async function indexed(change: (range: BlockRange) => unknown) {
  const set = setUpIndexer()
  set.chain.mine(2, (height) => (height === 1 ? ['a', 'b'] : ['c']))
  await set.indexer.step()
  set.chain.intercept = (call) => {
    if (call[0] !== 'range') return undefined
    const [, from, to] = call
    return change(set.chain.rangeOf(from, to))
  }
  return { ...set, outcome: await set.indexer.step().catch((error: unknown) => error) }
}

const changed = (at: number, change: Record<string, unknown>) => (range: BlockRange) => ({
  ...range,
  payments: range.payments.map((payment, index) => (index === at ? { ...payment, ...change } : payment)),
})

type Nested = 'source' | 'router' | 'tokenIn' | 'tokenOut' | 'pricing'
const nested = (part: Nested, change: Record<string, unknown>) => (range: BlockRange) =>
  changed(0, { [part]: { ...range.payments[0]?.[part], ...change } })(range)

const feed = (change: Record<string, unknown>) =>
  nested('pricing', { feeds: [{ use: 'multiply', contract: null, pair: null, rate: 1n, decimals: 8, ...change }] })

const deposited = (change: Record<string, unknown>) => (range: BlockRange) => ({
  ...range,
  deposits: [{ payment: range.payments[0], bridge: 'across', depositId: '1', destinationChainId: 10, ...change }],
})

const block = (at: number, change: Partial<BlockRef>) => (range: BlockRange) => ({
  ...range,
  blocks: range.blocks.map((each, index) => (index === at ? { ...each, ...change } : each)),
})

const hash = `0x${'ab'.repeat(32)}`
test.each<[string, (range: BlockRange) => unknown]>([
  ['payments[1].txHash', changed(1, { txHash: base58 })],
  ['payments[0].txHash', changed(0, { txHash: hash.toUpperCase() })],
  ['payments[0].chainId', changed(0, { chainId: 2 })],
  ['payments[0].blockHash', changed(0, { blockHash: hash })],
  ['payments[0].blockNumber', changed(0, { blockNumber: 3 })],
  ['payments[0].blockTimestamp', changed(0, { blockTimestamp: 5 })],
  ['payments[0].logIndex', changed(0, { logIndex: -1 })],
  ['payments[0].ordinal', changed(0, { ordinal: 0.5 })],
  ['payments[0].sender', changed(0, { sender: base58 })],
  ['payments[0].receiver', changed(0, { receiver: null })],
  ['payments[0].memoHex', changed(0, { memoHex: '0x' })],
  ['payments[0].integrationAddress', changed(0, { integrationAddress: '0xABCDEF' })],
  ['payments[0].source.txHash', nested('source', { txHash: base58 })],
  ['payments[0].source.chainId', nested('source', { chainId: 0 })],
  ['payments[0].router.address', nested('router', { address: '' })],
  ['payments[0].tokenIn.amount', nested('tokenIn', { amount: 5 })],
  ['payments[0].tokenIn.decimals', nested('tokenIn', { decimals: 256 })],
  ['payments[0].tokenOut.address', nested('tokenOut', { address: base58 })],
  ['payments[0].tokenOut.symbol', nested('tokenOut', { symbol: undefined })],
  ['payments[0].tokenOut.gross', nested('tokenOut', { gross: -1n })],
  ['payments[0].tokenOut.gross', nested('tokenOut', { gross: 1n << 256n })],
  ['payments[0].tokenOut.net', nested('tokenOut', { net: (1n << 256n) - 1n })],
  ['payments[0].pricing.feeds', nested('pricing', { feeds: null })],
  ['payments[0].pricing.feeds[0].rate', feed({ rate: 0n })],
  ['payments[0].pricing.feeds[0].use', feed({ use: 'unknown' })],
  ['payments[0].pricing.feeds[0].pair.base', feed({ pair: undefined })],
  ['payments[0].pricing.feeds[0].pair.quote', feed({ pair: { base: 'CHF', quote: 7 } })],
  ['payments[0].pricing.feeds[0]', nested('pricing', { feeds: [null] })],
  ['payments[0].pricing.listedToken.symbol', nested('pricing', { listedToken: undefined })],
  ['payments[0].pricing.listedToken.currency', nested('pricing', { listedToken: { symbol: 'DAI' } })],
  ['payments[0].pricing', changed(0, { pricing: null })],
  ['payments[0].router.version', nested('router', { version: '' })],
  ['payments[0]', (range) => ({ ...range, payments: [null] })],
  ['deposits[0]', (range) => ({ ...range, deposits: [null] })],
  ['deposits[0].payment', deposited({ payment: null })],
  ['deposits[0].bridge', deposited({ bridge: null })],
  ['blocks[0]', (range) => ({ ...range, blocks: [null] })],
  ['the range', () => 'none'],
  ['payments[0].pricing.serviceFee', nested('pricing', { serviceFee: -1n })],
  ['payments[1]', (range) => ({ ...range, payments: range.payments.toReversed() })],
  [
    'payments[1].ordinal is 1; expected above 1',
    ({ payments: [first, second, third], ...range }) => {
      const same = { ...(second as PaymentFacts), txHash: first?.txHash, ordinal: 1 }
      return { ...range, payments: [{ ...first, ordinal: 1 }, same, third] }
    },
  ],
  [
    'payments[1] does not come after the one before it',
    ({ payments: [first, , third], ...range }) => {
      return { ...range, payments: [first, { ...(first as PaymentFacts), ordinal: 1 }, third] }
    },
  ],
  ['payments', (range) => ({ ...range, payments: null })],
  ['deposits', (range) => ({ ...range, deposits: undefined })],
  ['blocks[0].hash', block(0, { hash })],
  ['the last of blocks', block(1, { hash })],
  ['blocks[1].parentHash', block(1, { parentHash: hash })],
  ['blocks[1].timestamp', block(1, { timestamp: Number.NaN })],
  ['blocks', (range) => ({ ...range, blocks: 'none' })],
  ['first.hash', (range) => ({ ...range, first: { ...range.first, hash: base58 } })],
  ['proof', (range) => ({ ...range, proof: 'complete' })],
  ['node', (range) => ({ ...range, node: 7 })],
])('nothing of a range is stored, and the error names adapter, chain and place: %s (%#)', async (place, change) => {
  const { outcome, store, checkpoint } = await indexed(change)
  expect(outcome).toMatchObject({ code: 'ERR_CHAIN_ADAPTER', chainId: 1, adapter: 'fake', retryable: false })
  expect((outcome as Error).message).toMatch(/^The adapter fake of chain 1 breaks the port Chain: /)
  expect((outcome as { flaw: string }).flaw.startsWith(place)).toBe(true)
  expect(store.committed.payments.length).toBe(0)
  expect(await checkpoint()).toMatchObject({ blockNumber: 0 })
})

test('two transactions of a block may have the same log index: some chains count per transaction', async () => {
  const { outcome, store } = await indexed((range) => changed(1, { logIndex: range.payments[0]?.logIndex })(range))
  expect(outcome).not.toBeInstanceOf(Error)
  expect(store.committed.payments.length).toBe(3)
})

test.each([
  ['number', 1.5],
  ['hash', base58],
  ['timestamp', '1'],
])('a flawed head().%s is rejected', async (field, value) => {
  const { chain, indexer } = setUpIndexer()
  chain.intercept = () => ({ ...chain.at(0), [field]: value })
  await expect(indexer.step()).rejects.toThrow(`head().${field}`)
})
