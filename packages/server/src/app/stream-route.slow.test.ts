/** docs/decisions/trigger-and-listen.md over real HTTP. */
import { deliveryStreamPath } from '@payment-integration/contract/internal'
import type { IssuedIntegration } from '@payment-integration/core'
import { verifySignature } from '@payment-integration/webhook'
import { expect, it, onTestFinished } from 'vitest'
import { type EventStream, openEvents } from '../../test/support/event-stream.js'
import { facts, indexPayments } from '../../test/support/index-payments.js'
import { basic } from '../../test/support/integration-service.js'
import { eventually } from '../../test/support/tcp-server.js'
import { startTempServer } from '../../test/support/temp-server.js'

const shop = `0x${'a1'.repeat(20)}`
const rival = `0x${'b2'.repeat(20)}`
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

async function start() {
  const server = await startTempServer({ PI_LISTEN: 'on' })
  const { integrations, store } = server.service
  const create = (address: string) => integrations.create({ address, notificationUrl: 'http://127.0.0.1:9/hook' })
  const [own, other] = [await create(shop), await create(rival)]
  return {
    ...{ server, own, other },
    async open(issued: IssuedIntegration, headers: Record<string, string> = {}, query = '') {
      const Authorization = basic(issued.integration.address, issued.apiSecret)
      const opened = await openEvents(`${server.url}${deliveryStreamPath}${query}`, { Authorization, ...headers })
      onTestFinished(opened.close)
      return opened
    },
    /** Stores a payment, and with it a delivery. */
    pay: (n: number, integrationAddress = shop) =>
      indexPayments(store, [facts({ txHash: hash(n), integrationAddress, blockNumber: n })]),
  }
}

const named = (stream: EventStream, event: string) => stream.events.filter((each) => each.event === event)
const hashesOf = (stream: EventStream) => named(stream, 'delivery').map(({ data }) => Number(data.txHash))
const lastId = (stream: EventStream) => stream.events.at(-1)?.id ?? ''

it('sends what is stored after its start, with bytes that verify under the signing secret', async () => {
  const { open, pay, own } = await start()
  await pay(1)
  const stream = await open(own)
  expect([stream.status, stream.headers['content-type'], stream.headers['cache-control']]).toEqual([
    200,
    'text/event-stream',
    'private, no-store',
  ])
  await eventually(() => named(stream, 'live').length === 1)
  expect(named(stream, 'ready')[0]?.data).toEqual({ resumed: false, notifies: true })
  await pay(2)
  await eventually(() => hashesOf(stream).length === 1)
  const { data } = named(stream, 'delivery')[0] ?? {}
  const body = Buffer.from(data.body, 'base64')
  expect(JSON.parse(body.toString())).toMatchObject({ txHash: hash(2), version: 1, integrationAddress: shop })
  expect(data).toMatchObject({ txHash: hash(2), chainId: '1', version: 1 })
  expect(data.headers).toMatchObject({ 'Content-Type': 'application/json', 'X-Service-Integration': shop })
  await verifySignature({ body, header: data.headers['X-Service-Signature'], secrets: own.signingSecret })
})

it('a stream never has another integration\u2019s delivery, whatever id or time is passed', async () => {
  const { open, pay, own, other } = await start()
  const theirs = await open(other)
  await pay(1, rival)
  await eventually(() => hashesOf(theirs).length === 1)
  for (const id of [lastId(theirs), 'x', 'MQ', '1', '0', `${lastId(theirs)}A`]) {
    const rejected = await open(own, { 'Last-Event-ID': id })
    await eventually(() => rejected.isEnded())
    expect([rejected.status, JSON.parse(rejected.text())]).toEqual([
      400,
      { error: 'Last-Event-ID must be the id of an event of this stream, unchanged' },
    ])
  }
  const all = await open(own, {}, `?since=0&integration=${rival}&integrationAddress=${rival}`)
  const [mine, both] = [await open(own), await open(other, {}, '?since=0')]
  await eventually(() => [all, mine, both].every((each) => named(each, 'live').length === 1))
  await pay(2)
  await pay(3, rival)
  await eventually(() => hashesOf(mine).length === 1 && hashesOf(all).length === 1 && hashesOf(both).length === 2)
  expect([hashesOf(all), hashesOf(mine), hashesOf(both)]).toEqual([[2], [2], [1, 3]])
  for (const stream of [all, mine]) expect(stream.text()).not.toContain(rival)
})

it('goes on after the last complete event of a connection that was cut, without loss', async () => {
  const { open, pay, own } = await start()
  const cut = await open(own)
  await eventually(() => named(cut, 'live').length === 1)
  await pay(1)
  await eventually(() => hashesOf(cut).length === 1)
  const id = lastId(cut)
  cut.close()
  for (const n of [2, 3]) await pay(n)
  const resumed = await open(own, { 'Last-Event-ID': id })
  await pay(4)
  await eventually(() => hashesOf(resumed).length === 3)
  expect(hashesOf(resumed)).toEqual([2, 3, 4])
  expect(named(resumed, 'ready')[0]?.data.resumed).toBe(true)
  // The id of `ready` is a position too: a connection cut in its first delivery loses nothing.
  const early = await open(own, { 'Last-Event-ID': named(resumed, 'ready')[0]?.id ?? '' })
  await eventually(() => hashesOf(early).length === 3)
  expect(hashesOf(early)).toEqual([2, 3, 4])
})

it('answers 429 to a sixth stream of an integration, until one of its streams is closed', async () => {
  const { open, own, other } = await start()
  const streams = await Promise.all(Array.from({ length: 5 }, () => open(own)))
  expect(streams.map(({ status }) => status)).toEqual(Array(5).fill(200))
  const sixth = await open(own)
  expect([sixth.status, sixth.headers['retry-after']]).toEqual([429, '5'])
  expect((await open(other)).status).toBe(200)
  streams[0]?.close()
  let status = 429
  while (status === 429) status = (await open(own)).status
  expect(status).toBe(200)
})

it('sends heartbeats, and ends at the shutdown', async () => {
  const { open, own, server } = await start()
  const stream = await open(own)
  await eventually(() => stream.text().includes(': heartbeat\n\n'))
  await server.stop()
  await eventually(() => stream.isEnded())
})

it('reads no more deliveries for a reader that has stopped', async () => {
  const { open, own, server } = await start()
  const { store } = server.service
  const count = 400
  await store.transaction(async (tx) => {
    const all = Array.from({ length: count }, (_, n) => facts({ txHash: hash(n + 1), integrationAddress: shop }))
    const { inserted } = await tx.upsertPayments(all.map((each) => ({ facts: each, primary: true })))
    const body = Buffer.alloc(65_536, 'x')
    const integrationAddress = shop
    await tx.insertSnapshots(
      inserted.map(({ id: paymentId, chainId, txHash }) => {
        return { paymentId, version: 1, body, integrationAddress, chainId, txHash }
      }),
    )
  })
  let rows = 0
  const read = store.deliveries.stream
  store.deliveries.stream = async (query) => {
    const part = await read(query)
    rows += part.length
    return part
  }
  const slow = await open(own, {}, '?since=0')
  slow.pause()
  const fast = await open(own, {}, '?since=0')
  await eventually(() => hashesOf(fast).length === count)
  expect(rows).toBeLessThan(count * 1.6)
})

it('ends an open stream when its integration is disabled, and before the next delivery', async () => {
  const { open, pay, own, server } = await start()
  const stream = await open(own)
  await eventually(() => named(stream, 'live').length === 1)
  await server.service.integrations.setEnabled(shop, false)
  await pay(1)
  await eventually(() => stream.isEnded())
  expect(hashesOf(stream)).toEqual([])
})
