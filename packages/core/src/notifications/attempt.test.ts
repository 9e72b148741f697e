import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { ok, previousSecret, setUpDispatcher, signingSecret } from '../../test/support/dispatcher-setup.js'
import { getAddress, numbered } from '../../test/support/outbox.js'
import { hashOf } from '../../test/support/stored-payment.js'
import { start, until } from '../../test/support/until.js'
import type { PostRequest, PostResult } from '../ports/runtime.js'
import { cacheOpenedSecrets } from './attempt.js'
import type { DispatcherOptions } from './dispatch-run.js'

test('posts the stored bytes, signed at the moment of sending, within five seconds', async () => {
  const { dispatcher, deliveries, posts, clock, opened } = setUpDispatcher()
  const body = Uint8Array.from([0x7b, 0xff, 0x7d])
  const sealed = { keyVersion: 3, sealed: 'sealed-3' }
  await deliveries.add({
    name: 'a',
    body,
    signingSecret: sealed,
    integrationAddress: getAddress('0xabc'),
    notificationUrl: 'https://r.test/',
  })
  await clock.advance(90_500)
  expect(await dispatcher.runOnce()).toBe(1)
  const t = Math.floor(clock.now() / 1_000)
  const v1 = createHmac('sha256', signingSecret).update(`${t}.`).update(body).digest('hex')
  expect(posts).toEqual([
    {
      url: 'https://r.test/',
      body,
      timeoutMs: 5_000,
      delivery: {
        ...{ chainId: 1, txHash: `0x${'61'.padStart(64, '0')}`, integrationAddress: getAddress('0xabc') },
        ...{ deliveryId: '1', version: 1, attempt: 1 },
      },
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'payment-integration',
        'X-Service-Integration': getAddress('0xabc'),
        'X-Service-Signature': `t=${t},v1=${v1}`,
      },
    },
  ])
  expect(opened).toEqual([[sealed, getAddress('0xabc')]])
})

const malformed = { kind: 'failure', reason: 'malformed_answer', status: 200, latencyMs: 3 } as const

test.each([
  ['a redirect', { ...ok, status: 307 }, { status: 307, reason: 'status_307' }, 5_000],
  ['Retry-After', { ...ok, status: 429, retryAfter: '90' }, { status: 429, reason: 'status_429' }, 90_000],
  ['a time-out', { kind: 'failure', reason: 'timeout', latencyMs: 5_000 }, { status: null, reason: 'timeout' }, 5_000],
  ['a malformed answer', malformed, { status: 200, reason: 'malformed_answer' }, 5_000],
] as const)('%s reschedules it', async (_case, result, expected, retryInMs) => {
  const { dispatcher, deliveries, attempts, clock } = setUpDispatcher({}, () => result)
  await deliveries.add({ name: 'a' })
  await dispatcher.runOnce()
  const { status, attempts: logged, nextAttemptAt } = await deliveries.view('a')
  expect(status).toBe('pending')
  expect(logged).toEqual([
    { startedAt: clock.now(), latencyMs: result.latencyMs, ...expected, excerpt: null, replay: false },
  ])
  expect(nextAttemptAt).toBe(clock.now() + retryInMs)
  expect(attempts()).toMatchObject([{ ...expected, outcome: 'pending', retryInMs }])
})

test.each(['unreadable', 'blank'])('a secret that is %s fails its own attempt alone, unsent', async (sealed) => {
  const { dispatcher, deliveries, posts, logger, attempts } = setUpDispatcher()
  await deliveries.add({ name: 'a', signingSecret: { keyVersion: 1, sealed } })
  await deliveries.add({ name: 'b' })
  expect(await dispatcher.runOnce()).toBe(2)
  expect(await deliveries.view('a')).toMatchObject({
    status: 'pending',
    attempts: [{ status: null, reason: 'secret_unreadable' }],
  })
  expect((await deliveries.view('b')).status).toBe('delivered')
  expect(posts).toHaveLength(1)
  expect(attempts().find(({ deliveryId }) => deliveryId === '1')).toMatchObject({ retryInMs: 5_000, latencyMs: 0 })
  expect(logger.lines.map(({ message }) => message)).toEqual(['secret unreadable'])
  expect(JSON.stringify(logger.lines)).not.toContain(signingSecret)
})

test('a lease that another dispatcher took over is logged, not settled and not announced', async () => {
  const { dispatcher, deliveries, attempts, logger, clock } = setUpDispatcher({}, async () => {
    await clock.advance(15_000)
    expect(await deliveries.claim({ limit: 1, leaseMs: 60_000 })).toHaveLength(1)
    return ok
  })
  await deliveries.add({ name: 'a' })
  const loop = start({ run: async (signal) => void (await dispatcher.runOnce(signal)) })
  await until('the loss', () => logger.lines.length > 0)
  await loop.stop()
  expect(logger.lines[0]?.message).toBe('lease lost before the attempt was settled')
  expect(attempts()).toEqual([])
  expect(await deliveries.view('a')).toMatchObject({ status: 'pending', attempts: [] })
})

test('an exhausted delivery has its event, after that of its attempt', async () => {
  const { dispatcher, deliveries, events } = setUpDispatcher({}, () => ({ ...ok, status: 410 }))
  await deliveries.add({ name: 'a', chainId: 10, version: 4, integrationAddress: getAddress('0xabc') })
  await dispatcher.runOnce()
  expect(events.map(({ type }) => type)).toEqual(['delivery.attempted', 'delivery.exhausted'])
  expect(events[1]).toEqual({
    ...{ type: 'delivery.exhausted', deliveryId: '1', chainId: 10, txHash: hashOf('a'), version: 4 },
    ...{ integrationAddress: getAddress('0xabc'), reason: 'status_410' },
  })
})

test('a replay leaves the health of its endpoint alone, and its retries count', async () => {
  const { dispatcher, deliveries, posts, clock } = setUpDispatcher({}, () => ({ ...ok, status: 500 }))
  await deliveries.add(...numbered(4))
  await dispatcher.runOnce()
  expect(await deliveries.endpoints()).toMatchObject([{ failures: 4, blocks: 0 }])
  expect(await deliveries.replay({ limit: 10 })).toMatchObject({ replayed: 4 })
  await dispatcher.runOnce()
  expect(await deliveries.endpoints()).toMatchObject([{ failures: 4, blocks: 0 }])
  expect(posts).toHaveLength(8)
  await clock.advance(5_000)
  await dispatcher.runOnce()
  expect(await deliveries.endpoints()).toMatchObject([{ failures: 8, blocks: 1 }])
})

test('our secrets in a response are hidden in the attempt log', async () => {
  const excerpt = `WEBHOOK_SECRET=pi_whsec_${'aB3-_'.repeat(8)}; API=pi_api_xyz\nkey pi_legacy_q`
  const { dispatcher, deliveries } = setUpDispatcher({}, () => ({ ...ok, status: 500, excerpt }))
  await deliveries.add({ name: 'a' })
  await dispatcher.runOnce()
  expect((await deliveries.view('a')).attempts).toMatchObject([
    { excerpt: 'WEBHOOK_SECRET=[hidden]; API=[hidden]\nkey [hidden]' },
  ])
})

function counting(most?: number) {
  const opened: string[] = []
  const open = cacheOpenedSecrets(({ sealed }, address) => {
    opened.push(`${address} ${sealed}`)
    if (sealed === 'broken') throw new Error('cannot be opened')
    return `opened ${sealed}`
  }, most)
  return { opened, open: (sealed: string, address = 'a', keyVersion = 1) => open({ keyVersion, sealed }, address) }
}

test('a secret is opened once; the same text in another row, or under another key, is opened again', () => {
  const { open, opened } = counting()
  expect([open('x'), open('x'), open('x', 'b'), open('x', 'a', 2)]).toEqual(Array(4).fill('opened x'))
  expect(opened).toEqual(['a x', 'b x', 'a x'])
})

test('what cannot be opened is tried each time', () => {
  const { open, opened } = counting()
  for (const _ of [1, 2]) expect(() => open('broken')).toThrow('cannot be opened')
  expect(opened).toHaveLength(2)
})

test('it keeps as many as it may, and lets the oldest go', () => {
  const { open, opened } = counting(2)
  for (const sealed of ['1', '2', '3', '3', '2', '1']) open(sealed)
  expect(opened).toEqual(['a 1', 'a 2', 'a 3', 'a 1'])
})

type Answer = (post: PostRequest, number: number) => Promise<PostResult> | PostResult

const rejects: Answer = () => ({ ...ok, status: 401 })

function signedBy({ headers, body }: PostRequest): string {
  const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['X-Service-Signature'] ?? '') ?? []
  const isOf = (secret: string) => createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex') === v1
  return isOf(signingSecret) ? 'active' : isOf(previousSecret) ? 'previous' : 'nobody'
}

/** A dispatcher whose integration has a previous secret for a minute. `answer` plays the endpoint. */
function setUp(answer: Answer, options: DispatcherOptions = {}) {
  const setup: ReturnType<typeof setUpDispatcher> = setUpDispatcher(options, (post) =>
    answer(post, setup.posts.length - 1),
  )
  const previousSigningSecret = { keyVersion: 1, sealed: 'previous', until: setup.clock.now() + 60_000 }
  const add = (name: string) => setup.deliveries.add({ name, previousSigningSecret })
  const signers = () => setup.posts.map(signedBy)
  return { ...setup, add, signers }
}

test.each([400, 401, 403])(
  'a delivery answered %i is signed again with the previous secret, in its grace time',
  async (status) => {
    const { dispatcher, deliveries, add, posts, signers, clock, attempts } = setUp(async (_post, number) => {
      await clock.advance(1_000)
      return { ...ok, status: number === 0 ? status : 204 }
    })
    await add('a')
    await dispatcher.runOnce()
    expect(signers()).toEqual(['active', 'previous'])
    expect(new Set(posts.map(({ body }) => Buffer.from(body).toString())).size).toBe(1)
    expect(new Set(posts.map(({ headers }) => headers['X-Service-Signature']?.slice(0, 12))).size).toBe(2)
    const { status: outcome, attempts: logged } = await deliveries.view('a')
    expect(outcome).toBe('delivered')
    expect(logged.map((attempt) => [attempt.status, attempt.reason, attempt.startedAt])).toEqual([
      [status, `status_${status}`, clock.now() - 2_000],
      [204, null, clock.now() - 1_000],
    ])
    expect(attempts()).toMatchObject([
      { attempt: 1, status, outcome: 'pending', retryInMs: 0, publishedMs: null },
      { attempt: 2, status: 204, outcome: 'delivered', retryInMs: null, publishedMs: 2_000 },
    ])
  },
)

test.each([
  ['a 2xx', { ...ok, status: 204 }],
  ['a 404', { ...ok, status: 404 }],
  ['a 500', { ...ok, status: 500 }],
  ['a time-out', { kind: 'failure', reason: 'timeout', latencyMs: 5_000 }],
] as const)('in its grace time the previous secret signs nothing after %s', async (_what, result) => {
  const { dispatcher, add, signers } = setUp(() => result)
  await add('a')
  await dispatcher.runOnce()
  expect(signers()).toEqual(['active'])
})

test('within the grace time of a rotated signing secret, rejections of both secrets are two attempts and one step of the schedule, and block nothing', async () => {
  const { dispatcher, deliveries, add, signers, clock, attempts, events } = setUp(rejects)
  for (let n = 0; n < 20; n += 1) await add(`d${n}`)
  await dispatcher.runOnce()
  expect(signers()).toHaveLength(40)
  expect(await deliveries.endpoints()).toEqual([])
  expect(await deliveries.view('d0')).toMatchObject({ status: 'pending', nextAttemptAt: clock.now() + 5_000 })
  await clock.advance(5_000)
  await dispatcher.runOnce()
  expect((await deliveries.view('d0')).attempts).toHaveLength(4)
  // The second step of the schedule, not the third.
  expect((await deliveries.view('d0')).nextAttemptAt).toBe(clock.now() + 30_000)
  const own = attempts().filter(({ deliveryId }) => deliveryId === '1')
  expect(own.map(({ attempt, retryInMs }) => `${attempt} ${retryInMs}`)).toEqual(['1 0', '2 5000', '3 0', '4 30000'])
  expect(events.filter(({ type }) => type === 'endpoint.failing')).toEqual([])
})

test('within the grace time of a rotated signing secret, neither answer counts against the endpoint, whatever the second one is, and the second decides what follows', async () => {
  const { dispatcher, deliveries, add, clock } = setUp((_post, number) =>
    number === 0 ? { ...ok, status: 401 } : { ...ok, status: 503, retryAfter: '90' },
  )
  await add('a')
  await dispatcher.runOnce()
  expect(await deliveries.endpoints()).toEqual([])
  expect((await deliveries.view('a')).nextAttemptAt).toBe(clock.now() + 90_000)
  // Its retry is answered 503 at once, which has nothing to do with a secret.
  await clock.advance(90_000)
  await dispatcher.runOnce()
  expect(await deliveries.endpoints()).toMatchObject([{ failures: 1 }])
})

test('within the grace time of a rotated signing secret, a claim without time for a second whole post is settled after the first, and blocks nothing', async () => {
  const { dispatcher, deliveries, add, signers, clock } = setUp(
    async () => {
      await clock.advance(5_001)
      return { ...ok, status: 401 }
    },
    { leaseMs: 10_000 },
  )
  await add('a')
  await dispatcher.runOnce()
  expect(signers()).toEqual(['active'])
  expect(await deliveries.view('a')).toMatchObject({ status: 'pending', attempts: [{ status: 401 }] })
  expect(await deliveries.endpoints()).toEqual([])
})

test('at the end of the grace time the previous secret signs nothing, and a rejection counts', async () => {
  const { dispatcher, deliveries, add, signers, clock } = setUp(rejects)
  await clock.advance(60_000)
  await add('a')
  await dispatcher.runOnce()
  expect(signers()).toEqual(['active'])
  expect(await deliveries.endpoints()).toMatchObject([{ failures: 1 }])
})
