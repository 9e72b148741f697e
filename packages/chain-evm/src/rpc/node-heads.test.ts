import { ChainError } from '@payment-integration/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { plain } from '../../test/scripted-node.js'
import { openScriptedNodes, readHead, type ScriptedNodes, until, used } from '../../test/scripted-nodes.js'

let at: ScriptedNodes
beforeEach(async () => {
  at = await openScriptedNodes()
})
afterEach(() => at.close())

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
