import { describe, expect, test } from 'vitest'
import { blockAt, createFakeChain } from '../chain/fake-chain.js'
import { drawTransaction } from '../chain/transaction.js'
import { createDraws } from '../random.js'
import type { Call } from './calls.js'
import { answerFrom } from './fake-node.js'
import { type FaultName, faultNames } from './fault-names.js'
import { createFaultyNode } from './faulty-node.js'

const chainId = 31_337
const draws = createDraws('faulty node')
const chain = createFakeChain(chainId, draws, 1_700_000_000)
const draw = (nonce: number) => drawTransaction(draws, nonce)
for (let nonce = 0; nonce < 60; nonce += 3) chain.mine([nonce, nonce + 1, nonce + 2].map(draw), 1_700_000_000 + nonce)
const honest = (call: Call) => answerFrom(chainId, chain.tip, call)
const foreign = (call: Call) => answerFrom(5, blockAt(chain.tip, 3) ?? chain.tip, call)

const height = `0x${chain.tip.number.toString(16)}`
const wide = { fromBlock: '0x0', toBlock: height }
const calls: Call[] = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_blockNumber', params: [] },
  { method: 'eth_getBlockByNumber', params: ['latest', false] },
  { method: 'eth_getBlockByNumber', params: ['finalized', false] },
  { method: 'eth_getBlockByNumber', params: [height, true] },
  { method: 'eth_getBlockReceipts', params: [height] },
  { method: 'eth_getBlockReceipts', params: ['0x5'] },
  { method: 'eth_getLogs', params: [wide] },
  { method: 'eth_getLogs', params: [{ blockHash: chain.tip.hash }] },
]
const batch = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
const truth = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...honest(call) })))

function nodeWith(fault: FaultName, seed = 1) {
  return createFaultyNode({ honest, foreign, draws: createDraws(`${fault} ${seed}`), rates: { [fault]: 1 } })
}
async function getAnswers(fault: FaultName, seed = 1) {
  const node = nodeWith(fault, seed)
  if (fault === 'other-chain') await node.handle(batch) // the lost connection
  const reply = await node.handle(batch)
  if (reply.kind !== 'answer') throw new Error(`${fault} answered nothing`)
  return { ...reply, parsed: JSON.parse(reply.body) as { id: number; result?: unknown; error?: unknown }[] }
}
/** What the honest node lists for a call. */
const listHonest = (id: number) => (JSON.parse(truth) as { result: unknown[] }[])[id]?.result ?? []
const getResult = (answers: { id: number; result?: unknown }[], id: number) =>
  answers.find((item) => item.id === id)?.result

test('an honest node knows only blocks of its own branch', async () => {
  const fork = createFakeChain(chainId, createDraws('fork'), 1_700_000_000)
  const abandoned = fork.mine([], 1)
  fork.fork(1)
  fork.mine([], 2)
  const ask = (method: string, ...params: Call['params']) => answerFrom(chainId, fork.tip, { method, params })
  expect(ask('eth_getBlockByHash', abandoned.hash, false)).toEqual({ result: null })
  expect(ask('eth_getLogs', { blockHash: abandoned.hash })).toHaveProperty('error')
})

describe('faults', () => {
  test.each(faultNames)('%s changes the answer, and stops once healed', async (fault) => {
    let changed = false
    for (let seed = 0; seed < 20 && !changed; seed += 1) {
      const node = nodeWith(fault, seed)
      for (let request = 0; request < 3 && !changed; request += 1) {
        const reply = await node.handle(batch)
        changed = reply.kind !== 'answer' || reply.body !== truth
      }
      if (!changed) continue
      expect(node.faultCounts.get(fault)).toBeGreaterThan(0)
      node.heal()
      expect(await node.handle(batch)).toMatchObject({ kind: 'answer', status: 200, body: truth })
    }
    expect(changed).toBe(true)
  })

  test.each([
    ['rate-limit', 429, 'application/json', undefined],
    ['rate-limit-retry-after', 429, 'text/plain', /^[0-3]$/],
    ['html-502', 502, 'text/html', undefined],
  ] as const)('%s is status %i', async (fault, status, type, retryAfter) => {
    const reply = await nodeWith(fault).handle(batch)
    expect(reply).toMatchObject({ kind: 'answer', status, headers: { 'content-type': type } })
    const header = reply.kind === 'answer' ? reply.headers['retry-after'] : undefined
    if (retryAfter === undefined) expect(header).toBeUndefined()
    else expect(header).toMatch(retryAfter)
  })

  test('cut JSON is never JSON', async () => {
    for (let seed = 0; seed < 30; seed += 1) {
      const reply = await nodeWith('cut-json', seed).handle(batch)
      expect(() => JSON.parse(reply.kind === 'answer' ? reply.body : '{}')).toThrow(SyntaxError)
    }
  })

  test('a missing item leaves the others with their ids', async () => {
    const { parsed } = await getAnswers('batch-item-missing')
    expect(parsed).toHaveLength(calls.length - 1)
    expect(truth).toContain(JSON.stringify(parsed[0]))
  })

  test('a reordered batch holds the same items', async () => {
    const { parsed, body } = await getAnswers('batch-reordered')
    expect(body).not.toBe(truth)
    expect(JSON.stringify(parsed.toSorted((a, b) => a.id - b.id))).toBe(truth)
  })

  test('an error inside a batch is one of its items', async () => {
    const { parsed } = await getAnswers('batch-item-error')
    expect(parsed.filter(({ error }) => error !== undefined)).toHaveLength(1)
  })

  test('a lagging head is lower for every method, and higher blocks are missing', async () => {
    const { parsed } = await getAnswers('lagging-head')
    const head = Number(getResult(parsed, 1))
    expect(head).toBeLessThan(chain.tip.number)
    expect(getResult(parsed, 2)).toMatchObject({ number: getResult(parsed, 1), hash: blockAt(chain.tip, head)?.hash })
    expect(getResult(parsed, 4)).toBeNull()
    expect(getResult(parsed, 5)).toBeNull()
    expect(getResult(parsed, 8)).toEqual([])
    const heights = (getResult(parsed, 7) as { blockNumber: string }[]).map(({ blockNumber }) => Number(blockNumber))
    expect(Math.max(...heights)).toBeLessThanOrEqual(head)
  })

  test('logs are emptied or cut by range and by hash', async () => {
    const { parsed: emptied } = await getAnswers('logs-empty')
    expect([getResult(emptied, 7), getResult(emptied, 8)]).toEqual([[], []])
    const { parsed: cut } = await getAnswers('logs-cut')
    expect(getResult(cut, 7)).toHaveLength(listHonest(7).length - 1)
  })

  test('a receipt misses a log, and the other receipts are whole', async () => {
    const { parsed } = await getAnswers('receipt-log-missing')
    const logsIn = (receipts: unknown) => (receipts as { logs: unknown[] }[]).map(({ logs }) => logs.length)
    const before = logsIn(listHonest(6))
    const after = logsIn(getResult(parsed, 6))
    expect(before.reduce((sum, count) => sum + count)).toBe(after.reduce((sum, count) => sum + count) + 1)
    expect(after).toHaveLength(before.length)
  })

  test('a wide range is rejected or cut, a narrow one is not', async () => {
    const { parsed } = await getAnswers('range-limit')
    expect(parsed[7]).toHaveProperty('error')
    expect(parsed[8]).toHaveProperty('result')
    const { parsed: cut } = await getAnswers('range-cut')
    expect((getResult(cut, 7) as unknown[]).length).toBeLessThan(listHonest(7).length)
  })

  test('a swap for another chain drops the connection first, and again on the way back', async () => {
    const node = nodeWith('other-chain')
    const replies = []
    for (let request = 0; request < 16; request += 1) replies.push(await node.handle(batch))
    const getChain = (body: string) => Number(JSON.parse(body)[0].result)
    const kinds = replies.map((reply) => (reply.kind === 'answer' ? getChain(reply.body) : reply.kind))
    expect(kinds[0]).toBe('reset')
    expect(kinds[1]).toBe(5)
    expect(kinds.slice(1)).toContain('reset')
  })

  test('finalized goes back', async () => {
    const { parsed } = await getAnswers('finalized-back')
    expect(getResult(parsed, 3)).toMatchObject({ number: '0x0' })
  })
})
