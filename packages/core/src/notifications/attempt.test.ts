import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ok, setUpDispatcher, signingSecret } from '../../test/support/dispatcher-setup.js'
import { getAddress, numbered } from '../../test/support/outbox.js'
import { hashOf } from '../../test/support/stored-payment.js'
import { until } from '../../test/support/until.js'

describe('one attempt', () => {
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

  test.each([
    ['a status', { ...ok, status: 500 }, { status: 500, reason: 'status_500' }, 5_000],
    ['a redirect', { ...ok, status: 307 }, { status: 307, reason: 'status_307' }, 5_000],
    ['Retry-After', { ...ok, status: 429, retryAfter: '90' }, { status: 429, reason: 'status_429' }, 90_000],
    [
      'a time-out',
      { kind: 'failure', reason: 'timeout', latencyMs: 5_000 },
      { status: null, reason: 'timeout' },
      5_000,
    ],
    [
      'a malformed answer',
      { kind: 'failure', reason: 'malformed_answer', status: 200, latencyMs: 3 },
      { status: 200, reason: 'malformed_answer' },
      5_000,
    ],
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

  test.each(['unreadable', 'blank'])(
    'a secret that is %s fails the attempt unsent, and only that one',
    async (sealed) => {
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
    },
  )

  test('a lease that another dispatcher took over is logged, not settled and not announced', async () => {
    const { dispatcher, deliveries, attempts, logger, clock } = setUpDispatcher({}, async () => {
      await clock.advance(15_000)
      expect(await deliveries.claim({ limit: 1, leaseMs: 60_000 })).toHaveLength(1)
      return ok
    })
    await deliveries.add({ name: 'a' })
    const stop = new AbortController()
    const run = dispatcher.runOnce(stop.signal)
    await until('the loss', () => logger.lines.length > 0)
    stop.abort()
    await run
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
      type: 'delivery.exhausted',
      deliveryId: '1',
      chainId: 10,
      txHash: hashOf('a'),
      version: 4,
      integrationAddress: getAddress('0xabc'),
      reason: 'status_410',
    })
  })

  test('a replay leaves the health of its endpoint alone; its retries count, and wait while it is blocked', async () => {
    const { dispatcher, deliveries, posts, clock } = setUpDispatcher({}, () => ({ ...ok, status: 500 }))
    await deliveries.add(...numbered(4))
    await dispatcher.runOnce()
    for (let n = 0; n < 4; n += 1) expect((await deliveries.view(`d${n}`)).attempts).toHaveLength(1)
    expect(await deliveries.endpoints()).toMatchObject([{ failures: 4, blocks: 0 }])
    expect(await deliveries.replay({ limit: 10 })).toMatchObject({ replayed: 4 })
    await dispatcher.runOnce()
    expect(await deliveries.endpoints()).toMatchObject([{ failures: 4, blocks: 0 }])
    expect(posts).toHaveLength(8)
    // The first retry blocks the endpoint; the others were in flight.
    await clock.advance(5_000)
    await dispatcher.runOnce()
    expect(await deliveries.endpoints()).toMatchObject([{ failures: 8, blocks: 1 }])
    expect(await deliveries.replay({ deliveryId: '1', limit: 1 })).toMatchObject({ replayed: 1 })
    const before = posts.length
    await dispatcher.runOnce()
    expect(posts.length).toBe(before + 1)
    expect((await deliveries.view('d0')).attempts.map(({ replay }) => replay)).toEqual([false, true, true, true])
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
})
