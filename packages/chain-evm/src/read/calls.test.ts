/** How many calls a node is asked for per block, once its blocks are known. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProofChain, type ProofChain } from '../../test/proof-chain.js'
import { readAll } from '../../test/read-all.js'

let chain: ProofChain
let dense: { readonly from: number; readonly to: number }
let sparse: { readonly from: number; readonly to: number }
const learning = 64
const far = { head: 1_000_000 }

beforeAll(async () => {
  chain = await openProofChain()
  const from = await chain.block(1, 1, 1)
  for (let block = 1; block < learning + 120; block++) await chain.block(1, 1, 1)
  const middle = await chain.node.mine(1)
  dense = { from, to: middle - 1 }
  sparse = { from: middle, to: await chain.node.mine(1_000) }
})
afterAll(() => chain?.close())

test('a block that is full of payments costs two calls, and a range one more', async () => {
  const opened = chain.open()
  await readAll(opened, dense.from, dense.from + learning - 1, far)
  const before = chain.front.requests.length
  const { payments } = await readAll(opened, dense.from + learning, dense.to, far)
  expect(payments).toHaveLength(3 * 120)
  const calls = chain.since(before).flat()
  expect(calls.filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(120)
  expect(calls.filter((method) => method === 'eth_getBlockByNumber')).toHaveLength(120)
  expect(calls.length).toBeLessThanOrEqual(120 * 2.08)
})

test('a block without payments costs its header', async () => {
  const opened = chain.open()
  await readAll(opened, sparse.from, sparse.from, far)
  const before = chain.front.requests.length
  await readAll(opened, sparse.from + 1, sparse.to, far)
  const blocks = sparse.to - sparse.from
  expect(chain.since(before).flat().length).toBeLessThanOrEqual(blocks * 1.03)
})

test('the status of a node has its calls, the bytes of answers, and the blocks of ranges', async () => {
  const opened = chain.open()
  const before = chain.front.requests.length
  await readAll(opened, dense.from, sparse.to, far)
  const [status] = opened.nodes()
  expect(status?.calls).toBe(chain.since(before).flat().length)
  expect(status?.blocks).toBe(sparse.to - dense.from + 1)
  // A header alone takes more than this.
  expect(status?.receivedBytes).toBeGreaterThan(500 * (status?.blocks ?? 0))
})

test('payments are found where blocks become empty, and where they fill again', async () => {
  const opened = chain.open()
  const around = await readAll(opened, dense.from, sparse.to, far)
  expect(around.payments).toHaveLength(3 * (learning + 120))
  const back = await readAll(opened, dense.from, sparse.to, far)
  expect(back.payments).toEqual(around.payments)
})

test('without proof, only logs, both ends, and the last header again are requested', async () => {
  const opened = chain.open({ proof: 'none' })
  await readAll(opened, sparse.from, sparse.from, far)
  const before = chain.front.requests.length
  await readAll(opened, sparse.from + 1, sparse.to, far)
  const ranges = chain
    .since(before)
    .flat()
    .filter((method) => method === 'eth_getLogs').length
  expect(chain.since(before).flat().length).toBeLessThanOrEqual(ranges * 5)
})
