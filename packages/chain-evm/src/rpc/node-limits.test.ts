import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { always, NodeError, plain } from '../../test/scripted-node.js'
import * as scripted from '../../test/scripted-nodes.js'
import type { Node } from './json-rpc.js'
import type { Nodes } from './nodes.js'

const { headCall, readHead, readRange, used } = scripted
let at: scripted.ScriptedNodes
beforeEach(async () => {
  at = await scripted.openScriptedNodes()
})
afterEach(() => at.close())

test('a node that answers with thousands of brackets gets no request for ten minutes, even when it is alone', async () => {
  const nodes = at.alone()
  await used(nodes)
  at.nodeAt(0).http = always(200, `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(60_000)}`)
  await expect(used(nodes)).rejects.toThrow('the JSON is nested over 32 levels')
  const requestCount = at.nodeAt(0).requests.length
  at.nodeAt(0).http = null
  await at.clock.advance(599_999)
  await expect(used(nodes)).rejects.toThrow('no requests for 10 minutes')
  expect(at.nodeAt(0).requests).toHaveLength(requestCount)
  await at.clock.advance(1)
  expect(await used(nodes)).toBe('#1')
})

describe('a node with a rate limit', () => {
  const limited = (retryAfter?: string) =>
    always(429, 'slow down', retryAfter === undefined ? {} : { 'retry-after': retryAfter })

  test('that is alone is waited for as long as its Retry-After says', async () => {
    const nodes = at.alone()
    await used(nodes)
    at.nodeAt(0).http = limited('7')
    const work = used(nodes)
    expect(await at.paused()).toBe(7_000)
    const requestCount = at.nodeAt(0).requests.length
    at.nodeAt(0).http = null
    await at.clock.advance(6_999)
    expect(at.nodeAt(0).requests).toHaveLength(requestCount)
    await at.clock.advance(1)
    expect(await work).toBe('#1')
    expect(nodes.status()).toMatchObject([{ score: 1, failures: 0, maxRange: 2_000 }])
  })

  test('without Retry-After is waited for longer from the third time on, and rejected after five', async () => {
    const nodes = at.alone()
    await used(nodes)
    at.nodeAt(0).http = limited()
    const before = at.nodeAt(0).requests.length
    const work = nodes.runPinned(readRange).catch((error: unknown) => error)
    const waits: number[] = []
    for (let rejection = 1; rejection < 5; rejection++) {
      waits.push(await at.paused())
      await at.clock.advance(waits.at(-1) ?? 0)
    }
    expect(await work).toMatchObject({ message: expect.stringContaining('eth_getLogs: HTTP status 429') })
    expect(waits).toEqual([500, 500, 1_000, 2_000])
    expect(at.nodeAt(0).requests).toHaveLength(before + 5)
    expect(nodes.status()).toMatchObject([{ maxRange: 2_000, score: 1 }])
  })

  test('gets its pause while another is used, at once, and then its work again', async () => {
    const nodes = at.open()
    await used(nodes)
    at.nodeAt(0).http = limited('10')
    expect(await used(nodes)).toBe('#2')
    at.nodeAt(0).http = null
    const before = at.nodeAt(0).requests.length
    for (let second = 0; second < 9; second++) {
      await at.clock.advance(1_000)
      expect(await used(nodes)).toBe('#2')
    }
    expect(at.nodeAt(0).requests).toHaveLength(before)
    await at.clock.advance(1_000)
    expect(await used(nodes)).toBe('#1')
  })

  test('work in flight leaves a paused node at once and goes on elsewhere', async () => {
    const nodes = at.open()
    await used(nodes)
    const names: string[] = []
    const startedAt = at.clock.now()
    const work = nodes.runPinned(async (node) => {
      names.push(node.name)
      await node.rpc.call(headCall)
      if (node.name.endsWith('#1')) {
        // Another piece of work is rejected in between.
        at.nodeAt(0).http = limited('10')
        await used(nodes)
        at.nodeAt(0).http = null
      }
      return node.rpc.call(headCall)
    })
    expect(await work).toBe('0x64')
    expect(names).toEqual(['127.0.0.1 #1', '127.0.0.1 #2'])
    expect(at.clock.now()).toBe(startedAt)
  })

  test('work that begins while all are paused waits for the node whose pause ends first', async () => {
    const nodes = at.open()
    at.nodeAt(0).http = limited('10')
    at.nodeAt(1).http = limited('3')
    const work = used(nodes)
    expect(await at.paused()).toBe(3_000)
    at.nodeAt(1).http = null
    await at.clock.advance(3_000)
    expect(await work).toBe('#2')
  })

  test('a wait ends with the caller, and with close', async () => {
    const nodes = at.alone()
    await used(nodes)
    at.nodeAt(0).http = limited('30')
    const controller = new AbortController()
    const pendingCall = nodes.runPinned((node) => node.rpc.call(headCall, controller.signal), controller.signal)
    await at.paused()
    controller.abort(new Error('enough'))
    await expect(pendingCall).rejects.toThrow('enough')
    const closed = nodes.runPinned(readHead)
    await at.paused()
    nodes.close()
    await expect(closed).rejects.toThrow('the node was closed')
    expect(at.clock.sleepers()).toEqual([])
  })
})

describe('sizes of ranges', () => {
  const rejectAbove = (limit: number, code = -32_000) => {
    at.nodeAt(0).answer = (call) => {
      if (call.method !== 'eth_getLogs') return plain(call)
      if (Number(call.params[0]) > limit) throw new NodeError(code, 'wörter, die niemand kennt')
      return []
    }
  }
  async function readOn(nodes: Nodes, times: number): Promise<number[]> {
    const sizes: number[] = []
    for (let time = 0; time < times; time++)
      await nodes.runPinned(readRange).then(
        ({ blocks }) => sizes.push(blocks),
        () => {},
      )
    return sizes
  }

  test.each([-32_000, -32_005])(
    'a limit is learned from rejections with code %i, without a mark on the score',
    async (code) => {
      const nodes = at.alone()
      rejectAbove(300, code)
      const sizes = await readOn(nodes, 40)
      expect(sizes.at(-1)).toBe(300)
      expect(nodes.status()).toMatchObject([{ maxRange: 300, score: 1, failures: 0 }])
    },
  )

  /** Tries smaller ranges within one piece of work, for as long as the node wants fewer blocks. */
  const readAtOnce = async (node: Node) => {
    for (;;) {
      const blocks = node.maxRange()
      try {
        return await readRange(node)
      } catch (error) {
        if (node.maxRange() >= blocks) throw error
      }
    }
  }

  test('a node that rejects every size during one attempt is blamed, and keeps its size', async () => {
    const nodes = at.open()
    rejectAbove(0)
    at.nodeAt(1).answer = (call) => (call.method === 'eth_getLogs' ? [] : plain(call))
    expect(await nodes.runPinned(readAtOnce)).toEqual({ name: '127.0.0.1 #2', blocks: 2_000 })
    expect(at.nodeAt(0).asked('eth_getLogs')).toBe(2)
    expect(nodes.status()).toMatchObject([{ score: 0, maxRange: 2_000 }, { inUse: true }])
  })

  test('each node has its own', async () => {
    const nodes = at.open()
    rejectAbove(300)
    at.nodeAt(1).answer = (call) => (call.method === 'eth_getLogs' ? [] : plain(call))
    await readOn(nodes, 40)
    const [first, second] = nodes.status().map(({ maxRange }) => maxRange)
    expect(first).toBe(300)
    expect(second).toBeGreaterThanOrEqual(2_000)
  })

  test('code -32005 for the smallest range as well is a rate limit', async () => {
    const nodes = at.alone()
    rejectAbove(0, -32_005)
    await readOn(nodes, 2)
    const before = at.nodeAt(0).requests.length
    rejectAbove(10_000)
    const work = nodes.runPinned(readRange)
    expect(await at.paused()).toBe(500)
    expect(at.nodeAt(0).requests).toHaveLength(before)
    await at.clock.advance(500)
    expect(await work).toMatchObject({ blocks: 2_000 })
  })
})
