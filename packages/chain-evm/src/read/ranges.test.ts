/** Ranges one after the other: order, reading ahead, and what ends them. */
import type { BlockRange } from '@payment-integration/core/ports'
import { describe, expect, test } from 'vitest'
import type { FrontRequest } from '../../test/front.js'
import { openProofChain, pays } from '../../test/proof-chain.js'
import { readAll } from '../../test/read-all.js'
import { until } from '../../test/scripted-nodes.js'
import { createRangeSizing } from './range-sizing.js'

const chain = await openProofChain()
for (let index = 0; index < 20; index++) {
  await chain.block(1)
  await chain.node.mine(59)
}
const last = await chain.block(1)

const far = 1_000_000
async function collect(ranges: AsyncIterable<BlockRange>): Promise<BlockRange[]> {
  const all: BlockRange[] = []
  for await (const range of ranges) all.push(range)
  return all
}

describe('ranges', () => {
  test('follow each other without a gap and hold every payment once', async () => {
    const ranges = await collect(chain.open().ranges({ from: 0, to: last, head: far }))
    expect(ranges.length).toBeGreaterThan(3)
    expect(ranges[0]?.first.number).toBe(0)
    expect(ranges.at(-1)?.last.number).toBe(last)
    for (const [index, { first, last: end, blocks }] of ranges.entries()) {
      expect(blocks).toHaveLength(end.number - first.number + 1)
      if (index > 0) expect(first.parentHash).toBe(ranges[index - 1]?.last.hash)
    }
    expect(ranges.flatMap(({ payments }) => payments)).toHaveLength(21)
  })

  test('near the head are proven by root, those before by bloom', async () => {
    const ranges = await collect(chain.open({ nearHead: 10 }).ranges({ from: last - 99, to: last, head: last }))
    const byRoot = ranges.filter(({ proof }) => proof === 'root').flatMap(({ blocks }) => blocks)
    expect(byRoot.map(({ number }) => number)).toEqual(Array.from({ length: 10 }, (_, index) => last - 9 + index))
    expect(new Set(ranges.map(({ proof }) => proof))).toEqual(new Set(['bloom', 'root']))
    const none = await collect(chain.open({ nearHead: 0 }).ranges({ from: last, to: last, head: last }))
    expect(none.map(({ proof }) => proof)).toEqual(['bloom'])
  })

  test('without proof span what the node accepts', async () => {
    const ranges = await collect(chain.open({ proof: 'none', maxRange: 7 }).ranges({ from: 0, to: 20, head: far }))
    expect(ranges[0]?.last.number).toBe(6)
    expect(ranges.at(-1)?.last.number).toBe(20)
    expect(ranges.flatMap(({ blocks }) => blocks.map(({ number }) => number)).slice(0, 2)).toEqual([0, 6])
  })
})

test('a range that no node answers has fewer blocks the next time', async () => {
  chain.front.intercept = ({ calls, forward }, response) =>
    calls.length < firstBlocks / 2 ? forward() : response.writeHead(500).end()
  const opened = chain.open()
  const read = () => collect(opened.ranges({ from: 0, to: firstBlocks / 2, head: far }))
  await expect(read()).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  expect((await read()).length).toBeGreaterThan(1)
})

describe('reading ahead', () => {
  test('continues while a range is consumed, and is limited', async () => {
    const opened = chain.open()
    const heldRequests = holdFrom(firstBlocks)
    const ranges = opened.ranges({ from: 0, to: last, head: far })[Symbol.asyncIterator]()
    expect((await ranges.next()).value).toMatchObject({ last: { number: firstBlocks - 1 } })
    await until(() => heldRequests.size === mostAtOnce)
    // Everything that was to be sent was sent before this is answered.
    await opened.head()
    expect(heldRequests.size).toBe(mostAtOnce)
    for (const release of heldRequests) release()
    await ranges.return?.()
  })

  test('ends with an early return, and nothing is thrown later', async () => {
    const opened = chain.open()
    const heldRequests = holdFrom(firstBlocks)
    const cut = new Set<unknown>()
    const hold = chain.front.intercept
    chain.front.intercept = (request, response) => {
      if (isFrom(request, firstBlocks)) response.on('close', () => cut.add(response))
      return hold(request, response)
    }
    for await (const range of opened.ranges({ from: 0, to: last, head: far })) {
      expect(range.first.number).toBe(0)
      await until(() => heldRequests.size === mostAtOnce)
      break
    }
    await until(() => cut.size === mostAtOnce)
  })

  test('ends with the caller’s own reason', async () => {
    const opened = chain.open()
    await opened.head()
    const controller = new AbortController()
    const reason = new Error('enough')
    const ranges = opened.ranges({ from: 0, to: last, head: far }, controller.signal)[Symbol.asyncIterator]()
    await ranges.next()
    chain.front.intercept = () => undefined
    controller.abort(reason)
    await expect(collect({ [Symbol.asyncIterator]: () => ranges })).rejects.toBe(reason)
    await expect(collect(opened.ranges({ from: 0, to: 1, head: 1 }, controller.signal))).rejects.toBe(reason)
  })
})

test('a chain that moves between two ranges is gone', async () => {
  const changed = `0x${'cd'.repeat(32)}`
  // Headers of a kind of their own, so that a hash can be changed without notice.
  chain.lie('eth_getBlockByNumber', (it: { number: string; hash: string }) => ({
    ...it,
    extraData: '0x1234',
    hash: Number(it.number) === 15 ? changed : it.hash,
  }))
  const ranges = chain.open().ranges({ from: 0, to: 40, head: 40 })[Symbol.asyncIterator]()
  expect((await ranges.next()).done).toBe(false)
  await expect(ranges.next()).rejects.toMatchObject({ code: 'ERR_CHAIN_RANGE_GONE' })
  expect((await ranges.next()).done).toBe(true)
})

describe('some of the routers', () => {
  test('are read alone; a transaction of theirs comes whole', async () => {
    const { node, router, second, open } = chain
    await node.send({ to: second, data: pays(2) })
    await node.send({ to: router, data: pays(1) })
    const height = await node.mine()
    for (const where of [{}, { head: far }]) {
      const { payments } = await readAll(open(), height, height, { routers: [second, second], ...where })
      expect(payments.map(({ router: { address } }) => address)).toEqual([second, second])
      const all = await readAll(open(), height, height, { routers: [router, second], ...where })
      expect(all.payments).toHaveLength(3)
      expect(all).toEqual(await readAll(open(), height, height, where))
    }
    const onTrust = await readAll(open({ proof: 'none' }), height, height, { routers: [second] })
    expect(onTrust.payments).toHaveLength(2)
  })

  test("that are not the chain's, or an empty list, are rejected", async () => {
    for (const routers of [[], [`0x${'12'.repeat(20)}`], ['nothing']])
      await expect(readAll(chain.open(), 0, 1, { routers })).rejects.toThrow(TypeError)
  })
})

/** Ranges of small answers that are read at a time. */
const mostAtOnce = 8
/** Blocks of a chain's first range. */
const firstBlocks = createRangeSizing().maxBlocks('bloom')

/** Whether a request is for headers from a height on. */
function isFrom({ calls }: FrontRequest, height: number): boolean {
  const call = calls.find(({ method }) => method === 'eth_getBlockByNumber')
  return call !== undefined && Number(call.params[0]) >= height
}

/** The front answers no request for headers from a height on until it is released. */
function holdFrom(height: number): Set<() => void> {
  const heldRequests = new Set<() => void>()
  chain.front.intercept = async (request) => {
    if (isFrom(request, height)) await new Promise<void>((resolve) => heldRequests.add(resolve))
    return request.forward()
  }
  return heldRequests
}
