import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ok, previousSecret, setUpDispatcher, signingSecret } from '../../test/support/dispatcher-setup.js'
import type { PostRequest, PostResult } from '../ports/runtime.js'
import type { DispatcherOptions } from './dispatch-run.js'

type Answer = (post: PostRequest, number: number) => Promise<PostResult> | PostResult

const statuses =
  (...each: number[]): Answer =>
  (_post, number) => ({ ...ok, status: each[Math.min(number, each.length - 1)] ?? 200 })

/** Which secret signed a post. */
function signedBy({ headers, body }: PostRequest): string {
  const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['X-Service-Signature'] ?? '') ?? []
  const isOf = (secret: string) => createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex') === v1
  return isOf(signingSecret) ? 'active' : isOf(previousSecret) ? 'previous' : 'nobody'
}

/** A dispatcher whose integration has a previous secret for a minute. `answer` plays the endpoint. */
function setUp(answer: Answer, options: DispatcherOptions = {}) {
  let number = 0
  const setup: ReturnType<typeof setUpDispatcher> = setUpDispatcher(options, (post) => {
    number += 1
    return answer(post, number - 1)
  })
  const until = setup.clock.now() + 60_000
  const add = (name: string, previous = { keyVersion: 1, sealed: 'previous', until }) =>
    setup.deliveries.add({ name, previousSigningSecret: previous })
  const signers = () => setup.posts.map(signedBy)
  return { ...setup, add, signers, until }
}

describe('within the grace time of a rotated signing secret', () => {
  test.each([400, 401, 403])(
    'a delivery that is answered %i is sent once more at once, signed afresh by the previous secret',
    async (status) => {
      const { dispatcher, deliveries, add, posts, signers, clock, attempts } = setUp(async (_post, number) => {
        await clock.advance(1_000)
        return { ...ok, status: number === 0 ? status : 204 }
      })
      await add('a')
      await dispatcher.runOnce()
      expect(signers()).toEqual(['active', 'previous'])
      expect(new Set(posts.map(({ body }) => Buffer.from(body).toString())).size).toBe(1)
      expect(posts[0]?.headers['X-Service-Signature']?.slice(0, 12)).not.toBe(
        posts[1]?.headers['X-Service-Signature']?.slice(0, 12),
      )
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
  ] as const)('%s is no rejection of the signature: nothing is sent once more', async (_what, result) => {
    const { dispatcher, add, signers } = setUp(() => result)
    await add('a')
    await dispatcher.runOnce()
    expect(signers()).toEqual(['active'])
  })

  test('rejections of both secrets are two attempts and one step of the schedule, and block nothing', async () => {
    const { dispatcher, deliveries, add, signers, clock, attempts, events } = setUp(statuses(401))
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
    expect(own.map(({ attempt, retryInMs }) => [attempt, retryInMs])).toEqual([
      [1, 0],
      [2, 5_000],
      [3, 0],
      [4, 30_000],
    ])
    expect(events.filter(({ type }) => type === 'endpoint.failing')).toEqual([])
  })

  test('neither answer counts against the endpoint, whatever the second one is, and the second decides what follows', async () => {
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

  test('a delivery is given up after twelve steps, however often it was rejected', async () => {
    const { dispatcher, deliveries, clock, posts } = setUp(statuses(403))
    await deliveries.add({ name: 'a', previousSigningSecret: { keyVersion: 1, sealed: 'previous', until: 9e15 } })
    for (let round = 0; round < 20; round += 1) {
      await dispatcher.runOnce()
      await clock.advance(25 * 3_600_000)
    }
    expect((await deliveries.view('a')).status).toBe('exhausted')
    expect(posts).toHaveLength(24)
  })

  test('a claim without time for a second whole post is settled after the first, and blocks nothing', async () => {
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
})

test('at the end of the grace time the previous secret signs nothing, and a rejection counts', async () => {
  const { dispatcher, deliveries, add, signers, clock } = setUp(statuses(401))
  await clock.advance(60_000)
  await add('a')
  await dispatcher.runOnce()
  expect(signers()).toEqual(['active'])
  expect(await deliveries.endpoints()).toMatchObject([{ failures: 1 }])
})
