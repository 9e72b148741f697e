/** A node that often rejects, fails or cuts its answers: how many requests reading takes. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { manualClock, runThrough } from '../../test/manual-clock.js'
import { openProofChain } from '../../test/proof-chain.js'
import { follow } from '../../test/read-all.js'

/** Differs from every wait, so that it can be told from one. */
const requestTimeoutMs = 60_001
const seeds = Array.from({ length: 50 }, (_, position) => position + 1)
const parts = { limited: 0.25, failed: 0.1, cut: 0.05 } as const

const chain = await openProofChain()
const from = await chain.node.mine()
const payments = 22
for (let payment = 0; payment < payments; payment += 1) {
  await chain.block(1)
  await chain.node.mine(10)
}
const to = from + payments * 11

/** A number from 0 to 1 that depends on the text alone. */
function drawnFrom(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32
}

/** The fate of a request depends on its calls and on how often they were sent before, so that a seed repeats. */
function storm(seed: number): void {
  const repeats = new Map<string, number>()
  chain.front.intercept = async ({ calls, forward }, response) => {
    const content = JSON.stringify(calls.map(({ method, params }) => [method, params]))
    const repeat = repeats.get(content) ?? 0
    repeats.set(content, repeat + 1)
    const drawn = drawnFrom(`${seed} ${repeat} ${content}`)
    const text = await forward()
    if (drawn < parts.limited) return response.writeHead(429).end()
    if (drawn < parts.limited + parts.failed) return response.writeHead(502).end('<html>')
    return drawn < parts.limited + parts.failed + parts.cut ? response.writeHead(200).end(text.slice(0, -10)) : text
  }
}

async function run(seed: number, urls: readonly string[]) {
  storm(seed)
  const clock = manualClock()
  const startedAt = clock.now()
  const opened = chain.open({ nodes: urls.map((url) => ({ url })), clock, requestTimeoutMs })
  const requests = await chain.during(async () => {
    // Time passes only where something waits and no request is in flight: an answer takes no time.
    // As an indexer, it waits longer after each failure in a row.
    const wait = (_: unknown, failures: number) => clock.sleep(Math.min(30_000, 250 * 2 ** failures))
    const reading = follow(opened, { from, to, head: to }, wait)
    const found = await runThrough(clock, reading, (ms) => ms < requestTimeoutMs)
    expect(found, `seed ${seed}`).toHaveLength(payments)
  })
  opened.close()
  const chainIds = requests.filter((methods) => methods.length === 1 && methods[0] === 'eth_chainId').length
  return { seed, ms: clock.now() - startedAt, requests: requests.length, calls: requests.flat().length, chainIds }
}

const computeMedian = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0

test('every seed ends within three times the median of the requests', async () => {
  const runs = []
  for (const seed of seeds) runs.push(await run(seed, [chain.front.url]))
  const median = computeMedian(runs.map(({ requests }) => requests))
  const slow = runs.filter(({ requests }) => requests > 3 * median)
  expect({ median, slow }).toEqual({ median, slow: [] })
})

test('a second healthy node saves every wait', async () => {
  for (const seed of seeds.slice(0, 10)) {
    const { ms } = await run(seed, [chain.front.url, chain.other.url])
    expect(ms, `seed ${seed}`).toBe(0)
  }
})
