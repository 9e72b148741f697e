import { snapshotWriteSchema } from '@payment-integration/contract/internal'
import { createVerifier } from '@payment-integration/webhook'
import { expect, test, vi } from 'vitest'
import { before, getAddress, setUpIntegrations } from '../../test/support/integration-setup.js'
import { manualClock } from '../../test/support/manual-clock.js'
import { getOutbox, numbered } from '../../test/support/outbox.js'
import { openStore } from '../../test/support/store.js'
import { createAudited } from '../history/audit-log.js'
import type { PostRequest, PostResult } from '../ports/runtime.js'
import { parseMasterKey } from '../secrets/keys.js'
import { createDeliveryCommands, createEndpointCommands } from './delivery-commands.js'

const keys = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')

function setup() {
  const clock = manualClock()
  const store = openStore({ clock })
  const deliveries = getOutbox(store)
  const audited = createAudited({ transaction: store.transaction, keys, clock, actor: 'cli:ada' })
  const onDue = vi.fn()
  const commands = createDeliveryCommands({ deliveries, audited, onDue })
  async function exhaustAll() {
    const claims = await deliveries.claim({ limit: 10_000, leaseMs: 10_000 })
    const sent = { startedAt: 1, latencyMs: 1, excerpt: null, replay: false }
    const attempt = { ...sent, status: 410, reason: 'status_410' } as const
    await deliveries.settle(
      claims.map((claim) => ({ claim, attempt, verdict: { kind: 'exhausted' } })),
      () => ({ failures: 0, blocks: 0, blockMs: null }),
    )
  }
  const audit = () =>
    store.committed.audit.map(({ action, subject, actor, details }) => [action, subject, actor, details])
  return { clock, deliveries, store, commands, exhaustAll, audit, onDue }
}

test('a replay makes a delivery due at once, and is on record', async () => {
  const { commands, deliveries, exhaustAll, audit, onDue, clock } = setup()
  await deliveries.add({ name: 'a' })
  await exhaustAll()
  await clock.advance(60_000)
  expect(await commands.replay('1')).toMatchObject({ status: 'pending', nextAttemptAt: clock.now() })
  expect(onDue).toHaveBeenCalledTimes(1)
  expect(audit()).toEqual([['deliveries.replayed', '1', 'cli:ada', { replayed: 1 }]])
})

test('a replay rejects a delivery in flight, and records nothing', async () => {
  const { commands, deliveries, audit, onDue } = setup()
  await deliveries.add({ name: 'a' })
  await deliveries.claim({ limit: 1, leaseMs: 10_000 })
  await expect(commands.replay('1')).rejects.toMatchObject({ code: 'ERR_DELIVERY_IN_FLIGHT', retryable: true })
  expect([audit(), onDue.mock.calls]).toEqual([[], []])
})

test('replayAll: replays every match, in parts, each with its audit record and its progress', async () => {
  const { commands, deliveries, exhaustAll, audit } = setup()
  await deliveries.add(...numbered(2_500))
  await exhaustAll()
  await deliveries.add({ name: 'pending' })
  const progress: unknown[] = []
  const onProgress = (totals: object) => progress.push({ ...totals })
  expect(await commands.replayAll({ status: 'exhausted' }, { onProgress })).toEqual({ replayed: 2_500, inFlight: 0 })
  expect(progress).toEqual([1_000, 2_000, 2_500].map((replayed) => ({ replayed, inFlight: 0 })))
  const record = (replayed: number, through: string) => [
    ...['deliveries.replayed', 'all', 'cli:ada'],
    { status: 'exhausted', replayed, inFlight: 0, through },
  ]
  expect(audit()).toEqual([record(1_000, '1000'), record(1_000, '2000'), record(500, '2500')])
  expect(await commands.count({ status: 'pending' })).toBe(2_501)
})

test('replayAll: leaves alone deliveries that fail after it began', async () => {
  const { commands, deliveries, exhaustAll } = setup()
  await deliveries.add(...numbered(1_500))
  await exhaustAll()
  // Both the replayed deliveries and the new one fail after the first part.
  let failing: Promise<void> | undefined
  const onProgress = () => {
    failing ??= deliveries.add({ name: 'new' }).then(() => exhaustAll())
  }
  expect(await commands.replayAll({ status: 'exhausted' }, { onProgress })).toEqual({ replayed: 1_500, inFlight: 0 })
  await failing
  expect((await deliveries.view('new')).status).toBe('exhausted')
})

test('a replay records no field that is not a filter', async () => {
  const { commands, deliveries, exhaustAll, audit } = setup()
  await deliveries.add({ name: 'a' })
  await exhaustAll()
  const filter = { status: 'exhausted', chainId: undefined, until: 1e15, limit: 7, token: 'secret' } as const
  expect(await commands.replayAll(filter)).toEqual({ replayed: 1, inFlight: 0 })
  const details = { status: 'exhausted', until: 1e15, replayed: 1, inFlight: 0, through: '1' }
  expect(audit()).toStrictEqual([['deliveries.replayed', 'all', 'cli:ada', details]])
})

test('replayAll: a filter without a status is a RangeError', async () => {
  await expect(setup().commands.replayAll({})).rejects.toThrow(RangeError)
})

test.each([
  ['an address', { integrationAddress: '0x1' }, 'ERR_ADDRESS_INVALID'],
  ['a hash', { txHash: '0x1' }, 'ERR_TX_HASH_INVALID'],
])('%s of the wrong form is rejected', async (_what, filter, code) => {
  const { commands } = setup()
  await expect(commands.list({ ...filter, limit: 1 })).rejects.toMatchObject({ code })
  await expect(commands.count(filter)).rejects.toMatchObject({ code })
  await expect(commands.replayAll({ ...filter, status: 'exhausted' })).rejects.toMatchObject({ code })
})

test.each([
  ['since', Number.NaN],
  ['until', Number.POSITIVE_INFINITY],
])('%s of %d is a RangeError', async (name, at) => {
  await expect(setup().commands.count({ [name]: at })).rejects.toThrow(RangeError)
})

const shop = getAddress('a1')
const accepted: PostResult = { kind: 'answer', status: 204, retryAfter: null, excerpt: null, latencyMs: 3 }

async function setUp(answer: (post: PostRequest) => Promise<PostResult> = async () => accepted) {
  const { store, clock, commands, log } = setUpIntegrations()
  const { signingSecret } = await commands.create({ address: shop, notificationUrl: 'https://shop.example/hook' })
  const posts: PostRequest[] = []
  const endpoints = createEndpointCommands({
    integrations: store.integrations,
    audited: createAudited({ transaction: store.transaction, keys: before, clock, actor: `integration:${shop}` }),
    keys: before,
    clock,
    sender: {
      post(post) {
        posts.push(post)
        return answer(post)
      },
    },
    nextTestAt: new Map(),
  })
  return { store, clock, commands, log, endpoints, posts, signingSecret }
}

test('a test delivery is signed like any other, and says in its signed bytes that it is no payment', async () => {
  const { endpoints, posts, signingSecret, clock } = await setUp()
  await clock.advance(1_800_000_000_000 - clock.now())
  const sent = await endpoints.sendTest(shop)
  const [{ url, headers, body } = { url: '', headers: {}, body: new Uint8Array() }] = posts
  const { snapshot } = await createVerifier({ secrets: signingSecret, clock }).verify({ body, headers })
  expect(url).toBe('https://shop.example/hook')
  expect(snapshotWriteSchema.parse(snapshot)).toEqual({
    ...{ integrationAddress: shop, chainId: '31337', txHash: `0x7e57${'0'.repeat(60)}`, version: 1_800_000_000 },
    ...{ state: null, recipient: { title: 'Test delivery', subtitle: 'This is no payment.' }, invoice: null },
  })
  expect(sent).toMatchObject({ url, headers, body: new TextDecoder().decode(body), status: 204, reason: null })
})

test('it changes nothing but the audit log, which has its record before it is sent', async () => {
  const { endpoints, store, log } = await setUp(async () => {
    const url = expect.stringMatching(/^https:\/\/shop.example\/\[[0-9a-f]{12}\]$/)
    expect(log().at(-1)).toEqual(['integration.test_sent', shop, { url }])
    return { ...accepted, status: 500 }
  })
  const { payments, snapshots } = store.committed
  expect(await endpoints.sendTest(shop)).toMatchObject({ status: 500, reason: 'status_500' })
  expect(store.committed).toMatchObject({ payments, snapshots })
  expect(await store.deliveries.list({ limit: 9 })).toEqual([])
  expect(await store.deliveries.endpoints()).toEqual([])
})

test('one is in flight at a time, and 5 seconds lie between the starts of two; a failed one counts too', async () => {
  const waiting: (() => void)[] = []
  const { endpoints, clock } = await setUp(
    () =>
      new Promise((resolve) => waiting.push(() => resolve({ kind: 'failure', reason: 'connection', latencyMs: 1 }))),
  )
  const first = endpoints.sendTest(shop)
  await expect(endpoints.sendTest(shop)).rejects.toMatchObject({ code: 'ERR_TEST_IN_FLIGHT' })
  await expect.poll(() => waiting.length).toBe(1)
  waiting[0]?.()
  expect(await first).toMatchObject({ status: null, reason: 'connection' })
  await clock.advance(4_999)
  await expect(endpoints.sendTest(shop)).rejects.toMatchObject({ code: 'ERR_TEST_IN_FLIGHT' })
  await clock.advance(1)
  const second = endpoints.sendTest(shop)
  await expect.poll(() => waiting.length).toBe(2)
  waiting[1]?.()
  await second
})

test('without an integration or a URL nothing is sent', async () => {
  const { endpoints, commands, posts } = await setUp()
  await expect(endpoints.sendTest(getAddress('c'))).rejects.toMatchObject({ code: 'ERR_INTEGRATION_NOT_FOUND' })
  await commands.setNotificationUrl(shop, null)
  await expect(endpoints.sendTest(shop)).rejects.toMatchObject({ code: 'ERR_NO_NOTIFICATION_URL' })
  expect(posts).toEqual([])
})

test('an answer that repeats a secret shows it hidden', async () => {
  const { endpoints } = await setUp(async () => ({ ...accepted, excerpt: `env: pi_whsec_${'x'.repeat(43)}.` }))
  expect((await endpoints.sendTest(shop)).excerpt).toBe('env: [hidden].')
})
