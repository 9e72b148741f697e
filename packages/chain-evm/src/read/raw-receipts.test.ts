import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { openProofChain, type ProofChain } from '../../test/proof-chain.js'
import { withRawReceipts } from '../../test/raw-receipts.js'
import { follow, readAll } from '../../test/read-all.js'

const payingBlocks = 100
const raw = 'debug_getRawReceipts'
const json = 'eth_getBlockReceipts'

const chain = await openProofChain()
const from = await chain.block(1, 2)
for (let block = 1; block < payingBlocks; block += 1) await chain.block(1, 2)
const to = await chain.strange()

/** Opens the chain, reads its payments, and counts the calls of both receipt methods. */
async function read(options: Parameters<ProofChain['open']>[0] = {}, head = 1_000_000) {
  const before = chain.front.requests.length
  const opened = chain.open(options)
  const { payments } = await readAll(opened, from, to, { head })
  const calls = chain.front.requests.slice(before).flat()
  const count = (method: string) => calls.filter((each) => each === method).length
  const [status] = opened.nodes()
  await opened.close?.()
  return { payments, raw: count(raw), json: count(json), bytes: status?.receivedBytes ?? 0, status }
}

describe.each([
  ['far from the head', {}, 1_000_000],
  ['near the head', { nearHead: 1_000 }, undefined],
  ['with a proof by root', { proof: 'root' } as const, 1_000_000],
])('%s', (_name, options, head = to) => {
  test('a node with raw receipts answers the same payments in fewer bytes', async () => {
    const plain = await read({ ...options, rawReceipts: false }, head)
    expect(plain).toMatchObject({ raw: 0, payments: { length: 3 * payingBlocks } })
    chain.front.intercept = withRawReceipts(chain.node.rpcUrl)
    const result = await read(options, head)
    expect(result.payments).toEqual(plain.payments)
    expect(result.json).toBeLessThan(plain.json / 2)
    expect(result.raw + result.json).toBeLessThanOrEqual(plain.json + 1)
    expect(result.bytes).toBeLessThan(plain.bytes * 0.9)
  })

  test('a node without them is probed once', async () => {
    const { payments, raw, json, status } = await read(options, head)
    expect(payments).toHaveLength(3 * payingBlocks)
    expect({ raw, isRead: json >= payingBlocks, score: status?.score }).toEqual({ raw: 1, isRead: true, score: 1 })
  })
})

test.each<[string, Parameters<typeof withRawReceipts>[1]]>([
  ['leaves out a receipt', (all) => all.slice(1)],
  ['has them in another order', (all) => all.toReversed()],
  ['changes a byte', (all) => all.map((text) => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`)],
  ['answers none', () => []],
  ['answers bytes that are no receipts', (all) => all.map(() => '0x00')],
  ['answers text that is no hex', (all) => all.map(() => 'receipt')],
])('a node that %s is not believed, and every payment is found', async (_name, change) => {
  chain.front.intercept = withRawReceipts(chain.node.rpcUrl, change)
  const { payments, raw } = await read()
  expect({ found: payments.length, raw }).toEqual({ found: 3 * payingBlocks, raw: 1 })
})

test.each<[string, Parameters<typeof withRawReceipts>[1]]>([
  ['has them no more', () => null],
  ['leaves out a receipt', (all) => all.slice(1)],
  ['answers none', () => []],
  ['answers nulls', (all) => all.map(() => null as never)],
])('a node that %s after it was tried is asked for JSON again, and every payment is found', async (_name, change) => {
  let answers = 0
  chain.front.intercept = withRawReceipts(chain.node.rpcUrl, (all) => (++answers > 20 ? (change?.(all) ?? null) : all))
  const { payments, raw, status } = await read()
  expect(payments).toHaveLength(3 * payingBlocks)
  expect({ isTried: raw > 20, score: status?.score }).toEqual({ isTried: true, score: 1 })
})

test("a rejected probe does not change a node's health", async () => {
  chain.front.intercept = (request, response) => (request.methods.includes(raw) ? forbid(response) : request.forward())
  const { payments, status, raw: tries } = await read()
  const expected = { found: 3 * payingBlocks, tries: 1, score: 1 }
  expect({ found: payments.length, tries, score: status?.score }).toEqual(expected)
})

function forbid(response: ServerResponse) {
  return response.writeHead(403, { 'content-type': 'text/html' }).end('<html>forbidden</html>')
}

test('every payment is found as JSON on a node that rejects every request for raw receipts', async () => {
  const answer = withRawReceipts(chain.node.rpcUrl)
  let answers = 0
  chain.front.intercept = (request, response) => {
    if (!request.methods.includes(raw) || ++answers <= 2) return answer(request, response)
    return forbid(response)
  }
  const opened = chain.open()
  const before = chain.front.requests.length
  const isUnavailable = (error: unknown) => expect(error).toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  const payments = await follow(opened, { from, to, head: 1_000_000 }, isUnavailable)
  await opened.close()
  expect(new Set(payments.map(({ txHash, ordinal }) => `${txHash} ${ordinal}`)).size).toBe(3 * payingBlocks)
  expect(chain.front.requests.slice(before).flat()).toContain(json)
})
