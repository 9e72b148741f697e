import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type EndpointNodes, endpointNodes, headCall, readHead, readRange, used } from '../../test/endpoint-nodes.js'
import { always, NodeError, plain } from '../../test/scripted-node.js'
import type { Endpoint, Endpoints } from './endpoints.js'

let at: EndpointNodes
beforeEach(async () => {
  at = await endpointNodes()
})
afterEach(() => at.close())

describe('a node that answers with millions of brackets', () => {
  const hostile = always(200, `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(60_000)}`)

  test('gets no request for ten minutes, even when it is alone, and the caller hears of it at once', async () => {
    const endpoints = at.alone()
    await used(endpoints)
    at.nodeAt(0).http = hostile
    await expect(used(endpoints)).rejects.toThrow('the JSON is nested over 32 levels')
    const asked = at.nodeAt(0).requests.length
    at.nodeAt(0).http = null
    await at.clock.advance(599_999)
    await expect(used(endpoints)).rejects.toThrow('left alone for 10 minutes')
    expect(at.nodeAt(0).requests).toHaveLength(asked)
    await at.clock.advance(1)
    expect(await used(endpoints)).toBe('#1')
  })
})

describe('a node that wants fewer requests', () => {
  const limited = (retryAfter?: string) =>
    always(429, 'slow down', retryAfter === undefined ? {} : { 'retry-after': retryAfter })

  test('is waited for as long as it says when it is alone, and the work goes on', async () => {
    const endpoints = at.alone()
    await used(endpoints)
    at.nodeAt(0).http = limited('7')
    const work = used(endpoints)
    expect(await at.paused()).toBe(7_000)
    const asked = at.nodeAt(0).requests.length
    at.nodeAt(0).http = null
    await at.clock.advance(6_999)
    expect(at.nodeAt(0).requests).toHaveLength(asked)
    await at.clock.advance(1)
    expect(await work).toBe('#1')
    expect(endpoints.status()).toMatchObject([{ score: 1, failures: 0, maxRange: 2_000 }])
  })

  test('is waited for longer from the third time on when it does not say, and given up after five refusals', async () => {
    const endpoints = at.alone()
    await used(endpoints)
    at.nodeAt(0).http = limited()
    const before = at.nodeAt(0).requests.length
    const work = endpoints.pinned(readRange).catch((error: unknown) => error)
    const waits: number[] = []
    for (let refusal = 1; refusal < 5; refusal++) {
      waits.push(await at.paused())
      await at.clock.advance(waits.at(-1) ?? 0)
    }
    expect(await work).toMatchObject({ message: expect.stringContaining('eth_getLogs: HTTP status 429') })
    expect(waits).toEqual([500, 500, 1_000, 2_000])
    expect(at.nodeAt(0).requests).toHaveLength(before + 5)
    expect(endpoints.status()).toMatchObject([{ maxRange: 2_000, score: 1 }])
  })

  test('gets its pause while another is used, at once, and then its work again', async () => {
    const endpoints = at.open()
    await used(endpoints)
    at.nodeAt(0).http = limited('10')
    expect(await used(endpoints)).toBe('#2')
    at.nodeAt(0).http = null
    const before = at.nodeAt(0).requests.length
    for (let second = 0; second < 9; second++) {
      await at.clock.advance(1_000)
      expect(await used(endpoints)).toBe('#2')
    }
    expect(at.nodeAt(0).requests).toHaveLength(before)
    await at.clock.advance(1_000)
    expect(await used(endpoints)).toBe('#1')
  })

  test('work in flight leaves a paused node at once and goes on elsewhere', async () => {
    const endpoints = at.open()
    await used(endpoints)
    const names: string[] = []
    const startedAt = at.clock.now()
    const work = endpoints.pinned(async (endpoint) => {
      names.push(endpoint.name)
      await endpoint.rpc.call(headCall)
      if (endpoint.name.endsWith('#1')) {
        // Another piece of work is refused in between.
        at.nodeAt(0).http = limited('10')
        await used(endpoints)
        at.nodeAt(0).http = null
      }
      return endpoint.rpc.call(headCall)
    })
    expect(await work).toBe('0x64')
    expect(names).toEqual(['127.0.0.1 #1', '127.0.0.1 #2'])
    expect(at.clock.now()).toBe(startedAt)
  })

  test('work that begins while all are paused waits for the node whose pause ends first', async () => {
    const endpoints = at.open()
    at.nodeAt(0).http = limited('10')
    at.nodeAt(1).http = limited('3')
    const work = used(endpoints)
    expect(await at.paused()).toBe(3_000)
    at.nodeAt(1).http = null
    await at.clock.advance(3_000)
    expect(await work).toBe('#2')
  })

  test('a wait ends with the caller, and with close', async () => {
    const endpoints = at.alone()
    await used(endpoints)
    at.nodeAt(0).http = limited('30')
    const controller = new AbortController()
    const given = endpoints.pinned((endpoint) => endpoint.rpc.call(headCall, controller.signal), controller.signal)
    await at.paused()
    controller.abort(new Error('enough'))
    await expect(given).rejects.toThrow('enough')
    const closed = endpoints.pinned(readHead)
    await at.paused()
    endpoints.close()
    await expect(closed).rejects.toThrow('the endpoint was closed')
    expect(at.clock.sleepers()).toEqual([])
  })
})

describe('sizes of ranges', () => {
  const refusingAbove = (limit: number, code = -32_000) => {
    at.nodeAt(0).answer = (call) => {
      if (call.method !== 'eth_getLogs') return plain(call)
      if (Number(call.params[0]) > limit) throw new NodeError(code, 'wörter, die niemand kennt')
      return []
    }
  }
  async function readOn(endpoints: Endpoints, times: number): Promise<number[]> {
    const sizes: number[] = []
    for (let time = 0; time < times; time++)
      await endpoints.pinned(readRange).then(
        ({ blocks }) => sizes.push(blocks),
        () => {},
      )
    return sizes
  }

  test.each([-32_000, -32_005])(
    'a limit is learnt from refusals with code %i, without a mark on the score',
    async (code) => {
      const endpoints = at.alone()
      refusingAbove(300, code)
      const sizes = await readOn(endpoints, 40)
      expect(sizes.at(-1)).toBe(300)
      expect(endpoints.status()).toMatchObject([{ maxRange: 300, score: 1, failures: 0 }])
    },
  )

  /** Tries smaller ranges within one piece of work, for as long as the endpoint wants fewer blocks. */
  const readAtOnce = async (endpoint: Endpoint) => {
    for (;;) {
      const blocks = endpoint.maxRange()
      try {
        return await readRange(endpoint)
      } catch (error) {
        if (endpoint.maxRange() >= blocks) throw error
      }
    }
  }

  test('a node that refuses every size within one piece of work is blamed, and keeps its size', async () => {
    const endpoints = at.open()
    refusingAbove(0)
    at.nodeAt(1).answer = (call) => (call.method === 'eth_getLogs' ? [] : plain(call))
    expect(await endpoints.pinned(readAtOnce)).toEqual({ name: '127.0.0.1 #2', blocks: 2_000 })
    expect(at.nodeAt(0).asked('eth_getLogs')).toBe(2)
    expect(endpoints.status()).toMatchObject([{ score: 0, maxRange: 2_000 }, { inUse: true }])
  })

  test('each endpoint has its own', async () => {
    const endpoints = at.open()
    refusingAbove(300)
    at.nodeAt(1).answer = (call) => (call.method === 'eth_getLogs' ? [] : plain(call))
    await readOn(endpoints, 40)
    const [first, second] = endpoints.status().map(({ maxRange }) => maxRange)
    expect(first).toBe(300)
    expect(second).toBeGreaterThanOrEqual(2_000)
  })

  test('code -32005 for the smallest range as well is a rate limit', async () => {
    const endpoints = at.alone()
    refusingAbove(0, -32_005)
    await readOn(endpoints, 2)
    const before = at.nodeAt(0).requests.length
    refusingAbove(10_000)
    const work = endpoints.pinned(readRange)
    expect(await at.paused()).toBe(500)
    expect(at.nodeAt(0).requests).toHaveLength(before)
    await at.clock.advance(500)
    expect(await work).toMatchObject({ blocks: 2_000 })
  })
})
