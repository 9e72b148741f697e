/** Nodes that answer, but not all that is asked for at once: whatever they bear, the chain goes on. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import { type FrontRequest, type Intercept, rewriting } from '../../test/front.js'
import { manualClock, runThrough } from '../../test/manual-clock.js'
import { openProofChain, type ProofChain } from '../../test/proof-chain.js'
import { follow, readAll } from '../../test/read-all.js'

/** The clock runs so much faster than the world's: pauses that a node asks for are waited for in full. */
const speed = 50
const clock: Clock = {
  now: () => Math.floor(Date.now() * speed),
  sleep: (ms, signal) => delay(ms / speed, undefined, { signal }).catch(() => undefined),
}
/** Calls of a request that the nodes bear. */
const bearable = 5
const paymentsPerBlock = 12

const chain = await openProofChain()
const from = await chain.strange()
await chain.block(...Array.from({ length: paymentsPerBlock }, () => 1))
await chain.node.mine(10)
const last = await chain.block(...Array.from({ length: paymentsPerBlock }, () => 1))

/** The payments of blocks, read again from where it ended after each failure, as an indexer does. */
async function readOn(
  blocks: { readonly from?: number; readonly to?: number; readonly head: number },
  options: Parameters<ProofChain['open']>[0] = {},
  maxFailures = 40,
) {
  const opened = chain.open({ clock, requestTimeoutMs: 600_000 * speed, ...options })
  let failures = 0
  const payments = await follow(opened, { from, to: last, ...blocks }, (error) => {
    failures += 1
    if (failures === maxFailures) throw error
  })
  opened.close()
  return { payments, failures }
}

const error = { code: -32_000, message: 'no' }
const status =
  (code: number, tooMuch: (request: FrontRequest) => boolean): Intercept =>
  (request, response) =>
    tooMuch(request) ? response.writeHead(code).end() : request.forward()
const tooMany = ({ calls }: FrontRequest) => calls.length > bearable
const none = { code: -32_601, message: 'no such method' }
const without = rewriting((item, { method }) =>
  method === 'eth_getBlockReceipts' ? { id: item.id, error: none } : item,
)

/** Nodes, each with what it makes of a request. */
const nodes: Record<string, Intercept> = {
  'breaks at more than five calls at once': status(500, tooMany),
  'takes more than five calls at once for too many': status(429, tooMany),
  'answers more than five calls at once with one error': (request) =>
    tooMany(request) ? JSON.stringify({ id: null, error }) : request.forward(),
  'answers five calls of a request and leaves out the others': async (request) => {
    const answers = JSON.parse(await request.forward()) as unknown
    return JSON.stringify(Array.isArray(answers) ? answers.slice(0, bearable) : answers)
  },
  'answers five calls of a request and the others with errors': async (request) => {
    const answers = JSON.parse(await request.forward()) as unknown
    if (!Array.isArray(answers)) return JSON.stringify(answers)
    const late = (answers.slice(bearable) as { id: number }[]).map(({ id }) => ({ id, error }))
    return JSON.stringify([...answers.slice(0, bearable), ...late])
  },
  'has no receipts by block, and breaks at more than five calls': (request, response) =>
    (tooMany(request) ? status(500, tooMany) : without)(request, response),
  'breaks at every request for receipts by block': status(500, ({ methods }) =>
    methods.includes('eth_getBlockReceipts'),
  ),
}

for (const [what, intercept] of Object.entries(nodes)) {
  test(`near the head, every payment comes from a node that ${what}`, async () => {
    chain.front.intercept = intercept
    const { payments, failures } = await readOn({ head: last })
    expect(payments).toHaveLength(2 * paymentsPerBlock)
    expect(failures).toBeLessThan(20)
  })
}

/** Answers so many calls a second of `clock`, and no batch of more. Counts the seconds that these would take. */
function rationing(rations: Clock, perSecond: number) {
  let remaining = perSecond
  let at = rations.now()
  const counts = { answered: 0, rejected: 0 }
  chain.front.intercept = (request, response) => {
    remaining = Math.min(perSecond, remaining + ((rations.now() - at) / 1_000) * perSecond)
    at = rations.now()
    if (request.calls.length > remaining) {
      counts.rejected += 1
      return response.writeHead(429).end()
    }
    counts.answered += request.calls.length
    remaining -= request.calls.length
    return request.forward()
  }
  return counts
}

test('catching up from a node that rejects batches with its rate limit takes little longer than the rate', async () => {
  for (let index = 0; index < 4; index += 1) {
    await chain.node.mine(20)
    await chain.block(1, 1)
  }
  const end = await chain.node.mine(10)
  const manual = manualClock()
  const opened = chain.open({ clock: manual, requestTimeoutMs: 100_000 })
  const counts = rationing(manual, 15)
  const startedAt = manual.now()
  const work = readAll(opened, end - 93, end, { head: end + 1_000 })
  const range = await runThrough(manual, work, (ms) => ms <= 30_000)
  opened.close()
  expect(range.payments).toHaveLength(8)
  const bestMs = (counts.answered / 15) * 1_000
  expect(manual.now() - startedAt).toBeLessThan(bestMs * 2)
})

test.each(Object.entries({ 'near the head': 0, 'far from the head': 1_000 }))(
  '%s, every block comes from one node that cuts half of its receipts, by block and by transaction',
  async (_, above) => {
    for (let index = 0; index < 60; index += 1) await chain.block(1, 2)
    const end = await chain.block(1)
    let state = 1
    const isCut = () => {
      state = (state * 48_271) % 2_147_483_647
      return state % 2 === 0
    }
    chain.front.intercept = rewriting((item, { method }) => {
      if (method === 'eth_getTransactionReceipt' && isCut())
        return { ...item, result: { ...(item.result as object), logs: [] } }
      if (method !== 'eth_getBlockReceipts' || !Array.isArray(item.result) || item.result.length === 0) return item
      return isCut() ? { ...item, result: item.result.slice(0, -1) } : item
    })
    // Ranges of one block go on where longer ones would always hold one that is cut.
    const { payments } = await readOn({ from: end - 60, to: end, head: end + above }, {}, 60)
    expect(payments).toHaveLength(60 * 3 + 1)
  },
)

test('without proof, every payment comes from a node that accepts five calls at once', async () => {
  chain.front.intercept = status(500, tooMany)
  expect((await readOn({ head: last + 1_000 }, { proof: 'none' })).payments).toHaveLength(2 * paymentsPerBlock)
})
