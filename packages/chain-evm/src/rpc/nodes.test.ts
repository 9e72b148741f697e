import { ChainError } from '@payment-integration/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { plain, type ScriptedNode } from '../../test/scripted-node.js'
import * as scripted from '../../test/scripted-nodes.js'
import { formatNodeName } from './nodes.js'

const { down, headCall, readHead, until, used } = scripted
let at: scripted.ScriptedNodes
beforeEach(async () => {
  at = await scripted.openScriptedNodes()
})
afterEach(() => at.close())
const cut: ScriptedNode['http'] = (response, _, body) => response.end(body.slice(0, -2))

describe('a node', () => {
  test('is asked for its chain id once before its first work, and again after an unanswered request', async () => {
    const nodes = at.alone()
    await Promise.all([used(nodes), used(nodes), used(nodes)])
    expect(at.nodeAt(0).asked('eth_chainId')).toBe(1)
    expect(at.nodeAt(0).requests[0]).toEqual(['eth_chainId'])
    at.nodeAt(0).http = down
    await expect(used(nodes)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
    at.nodeAt(0).http = null
    at.nodeAt(0).answer = () => '0x1'
    await expect(used(nodes)).rejects.toThrow('the node is on chain 1. Use the RPC URL of a node of chain 31337.')
    at.nodeAt(0).answer = plain
    expect(await used(nodes)).toBe('#1')
  })

  test('is asked for its chain id again only after a minute of silence', async () => {
    const nodes = at.alone()
    for (let second = 0; second < 180; second += 30) {
      await used(nodes)
      await at.clock.advance(30_000)
    }
    expect(at.nodeAt(0).asked('eth_chainId')).toBe(1)
    await at.clock.advance(60_000)
    at.nodeAt(0).answer = () => '0x1'
    await expect(used(nodes)).rejects.toThrow('on chain 1.')
    expect(nodes.status()).toMatchObject([{ contradictions: 1, lastError: expect.stringContaining('on chain 1.') }])
  })

  const failures = Object.entries({ 'answers 502 three times': down, 'cuts its answer three times': cut })
  test.each(failures)('that is alone and %s is asked again in place, with its chain id along', async (_, fail) => {
    const node = at.nodeAt(0)
    const nodes = at.alone()
    await used(nodes)
    let failures = 0
    node.http = (...request) => failures++ < 3 && fail?.(...request)
    const before = node.requests.length
    expect(await used(nodes)).toBe('#1')
    const again = ['eth_chainId', 'eth_blockNumber']
    expect(node.requests.slice(before)).toEqual([['eth_blockNumber'], again, again, again])
    expect(nodes.status()).toMatchObject([{ failures: 0, score: 1 }])
    await used(nodes)
    expect(node.requests.at(-1)).toEqual(['eth_blockNumber'])
  })

  test('that is alone is used with any score', async () => {
    const nodes = at.alone()
    at.nodeAt(0).http = down
    for (let tries = 0; tries < 20; tries++)
      await expect(used(nodes)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
    at.nodeAt(0).http = null
    expect(await used(nodes)).toBe('#1')
    expect(nodes.status()).toMatchObject([{ inUse: true, failures: 20, head: 100 }])
  })
})

describe('of two nodes', () => {
  test('the first is used while both are healthy, for a whole attempt', async () => {
    const nodes = at.open()
    expect(await at.workFor(nodes, 60_000)).toEqual(Array(12).fill('#1'))
    expect(nodes.status().map(({ inUse }) => inUse)).toEqual([true, false])
  })

  test('the second takes over in the same call, and the first returns when its fault has faded and a probe succeeded', async () => {
    const nodes = at.open()
    await used(nodes)
    at.nodeAt(0).http = down
    expect(await used(nodes)).toBe('#2')
    expect(nodes.status()).toMatchObject([
      { score: 0, inUse: false, failures: 1, lastError: expect.stringContaining('HTTP status 502') },
      { score: 1, inUse: true, failures: 0, lastError: null },
    ])
    const before = at.nodeAt(0).requests.length
    expect(await at.workFor(nodes, 40_000)).toEqual(Array(8).fill('#2'))
    expect(at.nodeAt(0).requests).toHaveLength(before)
    // The probe finds it still broken, and it is left alone for longer.
    await at.workFor(nodes, 20_000)
    expect(at.nodeAt(0).requests.length).toBeGreaterThan(before)
    at.nodeAt(0).http = null
    const names = await at.workFor(nodes, 120_000)
    expect(names[0]).toBe('#2')
    expect(names.at(-1)).toBe('#1')
    expect([...names].sort().reverse()).toEqual(names)
  })

  test('one that failed gets no work before a probe succeeded, however long ago that was', async () => {
    const nodes = at.open()
    await used(nodes)
    at.nodeAt(0).http = down
    await used(nodes)
    await at.clock.advance(3_600_000)
    at.nodeAt(0).http = null
    expect(await used(nodes)).toBe('#2')
    await until(() => at.clock.sleepers().length === 0)
    expect(await used(nodes)).toBe('#1')
  })

  test.each([
    ['a contradiction', 'contradiction', 'contradictions'],
    ['a failed proof', 'proof-failed', 'failedProofs'],
  ] as const)('%s costs a node its work for minutes', async (_, kind, counter) => {
    const nodes = at.open()
    await nodes.runPinned(async (node) => node.note({ kind, what: 'block 7' }))
    expect(nodes.status()).toMatchObject([{ score: 0, [counter]: 1, lastError: 'block 7' }, { inUse: true }])
    expect(new Set(await at.workFor(nodes, 300_000))).toEqual(new Set(['#2']))
    const names = await at.workFor(nodes, 900_000)
    expect(names.at(-1)).toBe('#1')
  })

  test('a failed proof that was not noted is noted, and another node is tried', async () => {
    const nodes = at.open()
    const name = await nodes.runPinned(async (node) => {
      if (node.name.endsWith('#1')) throw new ChainError('ERR_CHAIN_PROOF_FAILED', 31_337, 'root of block 7')
      return node.name
    })
    expect(name).toBe('127.0.0.1 #2')
    expect(nodes.status()).toMatchObject([{ failedProofs: 1 }, { failedProofs: 0 }])
  })

  test('each is tried once, and the first error is thrown', async () => {
    const nodes = at.open()
    const tried: string[] = []
    const work = nodes.runPinned(async ({ name }) => {
      tried.push(name)
      throw new ChainError('ERR_CHAIN_UNAVAILABLE', 31_337, `nonsense from ${name}`)
    })
    await expect(work).rejects.toThrow('nonsense from 127.0.0.1 #1')
    expect(tried).toEqual(['127.0.0.1 #1', '127.0.0.1 #2'])
  })

  test.each([
    ['a block that is gone', new ChainError('ERR_CHAIN_RANGE_GONE', 31_337, 'gone')],
    ['an error of the caller', new TypeError('a bug')],
  ])('%s is thrown at once', async (_, error) => {
    const nodes = at.open()
    const tried: string[] = []
    const work = nodes.runPinned(async ({ name }) => {
      tried.push(name)
      throw error
    })
    await expect(work).rejects.toBe(error)
    expect(tried).toHaveLength(1)
  })

  test('a caller that aborts gets its own reason, and no other node is tried or blamed', async () => {
    const nodes = at.open()
    await used(nodes)
    const controller = new AbortController()
    const reason = new Error('shutting down')
    at.nodeAt(0).http = () => controller.abort(reason)
    const work = nodes.runPinned((node) => node.rpc.call(headCall, controller.signal), controller.signal)
    await expect(work).rejects.toBe(reason)
    await expect(nodes.runPinned(readHead, controller.signal)).rejects.toBe(reason)
    expect(at.nodeAt(1).requests).toEqual([])
    expect(nodes.status()).toMatchObject([{ failures: 0, score: 1 }, { score: 1 }])
  })

  test('one of another chain gets no work, and its heads count for nothing', async () => {
    at.nodeAt(0).answer = ({ method }) => (method === 'eth_chainId' ? '0x1' : '0xffffff')
    const nodes = at.open()
    expect(new Set(await at.workFor(nodes, 60_000))).toEqual(new Set(['#2']))
    expect(nodes.status()).toMatchObject([
      { head: null, score: 0 },
      { head: 100, score: 1 },
    ])
  })

  test('errors name the node, by host and position', async () => {
    const nodes = at.open()
    for (const node of at.nodes) node.http = down
    await expect(used(nodes)).rejects.toThrow('Chain 31337 cannot be read: 127.0.0.1 #1: eth_chainId: HTTP status 502.')
  })
})

test('a closed chain sends no request', async () => {
  const nodes = at.open()
  await used(nodes)
  nodes.close()
  const before = at.nodes.map(({ requests }) => requests.length)
  await expect(used(nodes)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  expect(at.nodes.map(({ requests }) => requests.length)).toEqual(before)
})

test.each([
  ['no node', { nodes: [] }, TypeError],
  ['a node without a URL', { nodes: [{}] }, TypeError],
  ['a URL of another protocol', { nodes: [{ url: 'ftp://k3y.example' }] }, TypeError],
  ['text that is no URL', { nodes: [{ url: 'k3y' }] }, TypeError],
  ['heads over HTTP', { nodes: [{ url: 'http://a.example', headsUrl: 'http://k3y.example' }] }, TypeError],
  ['a range of nothing', { maxRange: 0 }, RangeError],
  ['no time at all', { requestTimeoutMs: 0 }, RangeError],
])('%s is rejected at once, without repeating what was given', (_, options, type) => {
  expect(() => at.open(options)).toThrow(type)
  expect(() => at.open(options)).not.toThrow('k3y')
})

describe('heads', () => {
  const tells = (index: number, number: number) => {
    at.nodeAt(index).answer = (call) => (call.method === 'eth_blockNumber' ? `0x${number.toString(16)}` : plain(call))
  }

  test('a node that stays behind loses its work, and gets it back when it has caught up', async () => {
    const nodes = at.open()
    await used(nodes)
    tells(0, 100)
    tells(1, 110)
    const behind = await at.workFor(nodes, 60_000)
    expect(behind[0]).toBe('#1')
    expect(behind.at(-1)).toBe('#2')
    expect(nodes.status()).toMatchObject([
      { score: 0, head: 100 },
      { score: 1, head: 110 },
    ])
    tells(0, 111)
    tells(1, 111)
    expect((await at.workFor(nodes, 60_000)).at(-1)).toBe('#1')
  })

  test('a head that falls for a moment costs nothing', async () => {
    const nodes = at.open()
    await used(nodes)
    tells(0, 98)
    expect(await used(nodes)).toBe('#1')
    tells(0, 101)
    await at.clock.advance(1_000)
    await used(nodes)
    expect(nodes.status()).toMatchObject([{ score: 1, inUse: true, head: 101 }, {}])
  })

  test("a head far above the chain, without blocks, does not take the honest node's work", async () => {
    const nodes = at.open()
    tells(0, 10 ** 9)
    const names: string[] = []
    for (let round = 0; round < 12; round++) {
      await at.clock.advance(2_000)
      const work = nodes.runPinned(async (node) => {
        const { number, name } = await readHead(node)
        if (number > 1_000) throw new ChainError('ERR_CHAIN_RANGE_GONE', 31_337, 'no such block')
        return name
      })
      names.push(await work.catch(() => 'gone'))
    }
    expect(names.slice(0, 2)).toEqual(['gone', 'gone'])
    expect(new Set(names.slice(2))).toEqual(new Set(['127.0.0.1 #2']))
    expect(nodes.status()[1]).toMatchObject({ score: 1, inUse: true })
  })

  test('a chain that was set back by hand is accepted after five minutes', async () => {
    const nodes = at.open()
    await at.workFor(nodes, 30_000)
    for (const index of [0, 1]) tells(index, 5)
    await at.workFor(nodes, 600_000)
    expect(nodes.status()).toMatchObject([
      { score: 1, head: 5, inUse: true },
      { score: 1, head: 5 },
    ])
  })
})

test.each([
  ['little', 50, 40, '#1'],
  ['much', 50, 5, '#2'],
  ['much, but for nothing that one could feel', 9, 1, '#1'],
])('latency that differs %s, %i and %i ms', async (_, first, second, expected) => {
  for (const [node, ms] of [
    [at.nodeAt(0), first],
    [at.nodeAt(1), second],
  ] as const)
    node.http = (response, _calls, body) =>
      at.clock.sleep(ms).then(
        () => response.end(body),
        () => {},
      )
  const nodes = at.open()
  const turn = async () => {
    let done = false
    const work = used(nodes).finally(() => {
      done = true
    })
    for (let step = 0; !done || at.clock.sleepers().length > 0; step++) {
      // A request has its time-out asleep, and at its node the answer.
      await until(() => done || at.clock.sleepers().some((ms) => ms < 1_000))
      await at.clock.advance(1)
      if (step > 1_000) throw new Error('This does not end.')
    }
    return work
  }
  await turn()
  await at.clock.advance(20_000)
  await turn()
  expect(await turn()).toBe(expected)
  const [one, two] = nodes.status()
  expect(one?.latencyMs).toBeGreaterThanOrEqual(first)
  expect(two?.latencyMs).toBeGreaterThanOrEqual(second)
})

test.each([
  ['https://rpc.node.example/v2/k3y?token=k3y', 'rpc.node.example #1'],
  ['https://us3r:passw0rd@rpc.node.example:8545/', 'rpc.node.example #1'],
  ['https://k3y-of-the-node.nodes.example/', '*.nodes.example #1'],
  ['wss://a.k3y-of-the-node.nodes.example/', 'a.*.nodes.example #1'],
  ['http://127.0.0.1:8545', '127.0.0.1 #1'],
  ['http://[::1]:8545', '[::1] #1'],
  ['http://localhost:8545', 'localhost #1'],
  [undefined, 'transport #1'],
])('%s is called %s', (url, expected) => expect(formatNodeName(url, 1)).toBe(expected))
