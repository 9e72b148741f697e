/** How many calls a node is asked for: per block, once its blocks are known, and per poll. */
import { getHeadPollMs } from '@payment-integration/core/internal'
import { expect, test } from 'vitest'
import { openProofChain } from '../../test/proof-chain.js'
import { readAll } from '../../test/read-all.js'
import type { EvmChain } from '../evm-chain.js'

const learning = 64
const far = { head: 1_000_000 }
const chain = await openProofChain()
const from = await chain.block(1, 1, 1)
for (let block = 1; block < learning + 120; block++) await chain.block(1, 1, 1)
const middle = await chain.node.mine(1)
const dense = { from, to: middle - 1 }
const sparse = { from: middle, to: await chain.node.mine(1_000) }

test('a block that is full of payments costs two calls, and a range one more', async () => {
  const opened = chain.open()
  await readAll(opened, dense.from, dense.from + learning - 1, far)
  const read = async () =>
    expect((await readAll(opened, dense.from + learning, dense.to, far)).payments).toHaveLength(3 * 120)
  const calls = (await chain.during(read)).flat()
  expect(calls.filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(120)
  expect(calls.filter((method) => method === 'eth_getBlockByNumber')).toHaveLength(120)
  expect(calls.length).toBeLessThanOrEqual(120 * 2.08)
})

test('a block without payments costs its header', async () => {
  const opened = chain.open()
  await readAll(opened, sparse.from, sparse.from, far)
  const requests = await chain.during(() => readAll(opened, sparse.from + 1, sparse.to, far))
  expect(requests.flat().length).toBeLessThanOrEqual((sparse.to - sparse.from) * 1.03)
})

test('payments are found where blocks become empty; the status has the calls, bytes and blocks of a node', async () => {
  const opened = chain.open()
  const before = chain.front.requests.length
  const { payments } = await readAll(opened, dense.from, sparse.to, far)
  expect(payments).toHaveLength(3 * (learning + 120))
  const [status] = opened.nodes()
  expect(status?.calls).toBe(chain.front.requests.slice(before).flat().length)
  expect(status?.blocks).toBe(sparse.to - dense.from + 1)
  // A header alone takes more than this.
  expect(status?.receivedBytes).toBeGreaterThan(500 * (status?.blocks ?? 0))
  // The plan of the chain is now that of empty blocks.
  expect((await readAll(opened, dense.from, dense.to, far)).payments).toEqual(payments)
})

test('without proof, only logs, both ends, and the last header again are requested', async () => {
  const opened = chain.open({ proof: 'none' })
  await readAll(opened, sparse.from, sparse.from, far)
  const calls = (await chain.during(() => readAll(opened, sparse.from + 1, sparse.to, far))).flat()
  const ranges = calls.filter((method) => method === 'eth_getLogs').length
  expect(calls.length).toBeLessThanOrEqual(ranges * 5)
})

const pollMs = 1_000
const minute = 60_000

/** Polls for so long as the service does, while no block is mined; resolves the calls that the node was asked. */
async function callsIn(opened: EvmChain, ms: number): Promise<string[]> {
  const requests = await chain.during(async () => {
    for (let passed = 0; passed < ms; passed += getHeadPollMs(opened, pollMs)) await opened.head()
  })
  return requests.flat()
}

test('a poll costs two calls; announced blocks make polls ten times rarer, until the subscription ends', async () => {
  const headsUrl = chain.node.rpcUrl.replace('http:', 'ws:')
  const opened = chain.open({ nodes: [{ url: chain.front.url, headsUrl }] })
  await opened.head()
  const plain = await callsIn(opened, 2 * minute)
  expect(plain.filter((method) => method === 'eth_getBlockByNumber')).toHaveLength(120)
  expect(plain).toHaveLength(240)

  const controller = new AbortController()
  const watching = opened.watch(() => {}, controller.signal)
  // A block from before the subscription is not announced.
  while (!opened.announcesBlocks?.()) {
    await chain.node.mine()
    await opened.head()
  }
  expect(await callsIn(opened, 2 * minute)).toHaveLength(24)

  controller.abort()
  await watching
  expect(await callsIn(opened, 2 * minute)).toHaveLength(240)
})
