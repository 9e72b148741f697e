import { join } from 'node:path'
import { signDelivery } from '@payment-integration/webhook/signing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import type { Forwarded } from '../forward.js'
import type { DemoEvent } from './demo-events.js'
import { createRelay, type Forward, type ReceiverAnswer, startDemoReceiver } from './receiver.js'

const secret = 'whsec_0123456789abcdef0123456789abcdef'
const snapshot = {
  ...{ integrationAddress: `0x${'11'.repeat(20)}`, chainId: '31337', txHash: `0x${'ab'.repeat(32)}` },
  ...{ version: 1, state: null, recipient: null, invoice: null },
}

async function receiver(issued: () => string | undefined = () => secret) {
  const answers: ReceiverAnswer[] = []
  const rejections: { code: string; status: number }[] = []
  const started = await startDemoReceiver({
    databasePath: join(temporaryFolder(), 'receiver.db'),
    secret: issued,
    clock: Date,
    onAnswer: (answer) => answers.push(answer),
    onRejection: (rejection) => rejections.push(rejection),
  })
  onTestFinished(() => started.close())
  async function post(text: string) {
    const body = new TextEncoder().encode(text)
    const signature = await signDelivery({ secret, timestamp: Math.floor(Date.now() / 1000), body })
    const signed = { 'x-service-integration': snapshot.integrationAddress, 'x-service-signature': signature }
    const headers = { 'content-type': 'application/json', ...signed }
    return (await fetch(started.url, { method: 'POST', headers, body })).status
  }
  return { ...started, post, answers, rejections }
}

describe('startDemoReceiver', () => {
  it('rejects every delivery before the secret is issued', async () => {
    const { post, answers } = await receiver(() => undefined)
    expect(await post(JSON.stringify(snapshot))).toBeGreaterThanOrEqual(400)
    expect(answers).toEqual([])
  })

  it('rejects a body of more than 64 KiB with 413 and reports it', async () => {
    const { post, rejections } = await receiver()
    for (const length of [70_000, 3_000_000]) expect(await post('x'.repeat(length))).toBe(413)
    const rejection = { code: 'ERR_BODY_TOO_LARGE', status: 413 }
    expect(rejections).toEqual([rejection, rejection])
  })

  it('has one path and one method', async () => {
    const { url } = await receiver()
    expect((await fetch(url)).status).toBe(404)
    expect((await fetch(new URL('/other', url), { method: 'POST' })).status).toBe(404)
  })
})

const delivery = (name: string) => ({ headers: { name }, body: new Uint8Array() })
const ok: Forwarded = { status: 204, retryAfter: null, ms: 1, problem: null }

function relayTo(answer: () => Forwarded = () => ok, seed = 1) {
  const arrived: string[] = []
  const events: DemoEvent[] = []
  const forward: Forward = async ({ headers }) => {
    arrived.push(String(headers['name']))
    return answer()
  }
  const relay = createRelay('http://localhost:3000/webhook', forward, seed, (event) => events.push(event))
  return { relay, arrived, events }
}

it('passes the answer of the receiver on, and reports advice once until it changes', async () => {
  let problem: string | null = 'broken'
  const { relay, events } = relayTo(() => ({ ...ok, status: 500, problem }))
  for (let n = 0; n < 3; n += 1) expect(await relay.pass(delivery('a'))).toMatchObject({ status: 500 })
  problem = 'still broken'
  await relay.pass(delivery('a'))
  problem = null
  await relay.pass(delivery('a'))
  problem = 'broken'
  await relay.pass(delivery('a'))
  expect(events.map((event) => 'advice' in event && event.advice)).toEqual(['broken', 'still broken', 'broken'])
})

it('without chaos each delivery arrives once, in order', async () => {
  const { relay, arrived } = relayTo()
  const names = Array.from({ length: 50 }, (_, n) => String(n))
  for (const name of names) await relay.pass(delivery(name))
  expect(arrived).toEqual(names)
})

it('chaos repeats, delays and loses deliveries, the same for the same seed, until it is off', async () => {
  const run = async (seed: number) => {
    const { relay, arrived } = relayTo(undefined, seed)
    expect(relay.toggleChaos()).toBe(true)
    const statuses: (number | null)[] = []
    for (let n = 0; n < 60; n += 1) statuses.push((await relay.pass(delivery(String(n)))).status)
    expect(relay.toggleChaos()).toBe(false)
    await relay.pass(delivery('last'))
    await new Promise((resolve) => setImmediate(resolve))
    return { arrived, statuses }
  }
  const { arrived, statuses } = await run(7)
  expect(new Set(arrived).size).toBeLessThan(arrived.length)
  expect(new Set(arrived).size).toBeLessThan(61)
  expect(arrived.map(Number)).not.toEqual(arrived.map(Number).toSorted((a, b) => a - b))
  expect(statuses).toContain(null)
  expect(await run(7)).toEqual({ arrived, statuses })
  expect((await run(8)).arrived).not.toEqual(arrived)
})
