import { createHash } from 'node:crypto'
import * as api from '@opentelemetry/api'
import type { PostRequest, PostResult } from '@payment-integration/core/ports'
import { expect, it } from 'vitest'
import { recordSpans } from '../../test/support/recorded-spans.js'
import { computeTraceIds, createTracing } from './payment-trace.js'

const payment = { chainId: 137, txHash: `0x${'12'.repeat(32)}`, integrationAddress: `0x${'cd'.repeat(20)}` }
const { traceId, parentId } = computeTraceIds(payment)
const post: PostRequest = {
  url: 'https://shop.example/hooks/CANARY?key=CANARY',
  headers: { 'X-Service-Signature': 't=1,v1=ab' },
  body: Buffer.from('{}'),
  timeoutMs: 5_000,
  delivery: { ...payment, deliveryId: '7', version: 2, attempt: 3 },
}
const answer = (status: number) => ({ kind: 'answer', status, retryAfter: null, excerpt: null, latencyMs: 5 }) as const

/** A traced sender; `tracer` replaces that of an SDK that keeps its spans. */
function setUp(result: PostResult, { sampling, tracer }: { sampling?: 'none'; tracer?: api.Tracer } = {}) {
  const { provider, spans } = recordSpans(sampling)
  const posts: PostRequest[] = []
  const sender = {
    async post(each: PostRequest) {
      posts.push(each)
      return result
    },
  }
  const { traceSender, onEvent } = createTracing(api, { now: () => 1_000_000 }, tracer ?? provider.getTracer('test'))
  return { traced: traceSender(sender), onEvent, posts, spans }
}

it('an attempt is a span of the payment, and traceparent names it beside the signed headers and the same bytes', async () => {
  const { traced, posts, spans } = setUp(answer(204))
  expect(await traced.post(post)).toEqual(answer(204))
  const [span] = spans()
  expect(span?.spanContext().traceId).toBe(traceId)
  expect(span?.parentSpanContext?.spanId).toBe(parentId)
  expect(span?.name).toBe('notification.attempt')
  expect(span?.attributes).toEqual({
    'payment.chain_id': 137,
    'payment.tx_hash': payment.txHash,
    'payment.integration': payment.integrationAddress,
    'payment.version': 2,
    'notification.id': '7',
    'notification.attempt': 3,
    'http.request.method': 'POST',
    'http.response.status_code': 204,
    'server.address': 'shop.example',
  })
  const traceparent = `00-${traceId}-${span?.spanContext().spanId}-01`
  expect(posts).toEqual([{ ...post, headers: { 'X-Service-Signature': 't=1,v1=ab', traceparent } }])
})

it.each([
  [answer(500), '500'],
  [{ kind: 'failure', reason: 'timeout', latencyMs: 5_000 } as const, 'timeout'],
  [{ kind: 'failure', reason: 'malformed_answer', status: 200, latencyMs: 9 } as const, 'malformed_answer'],
])('%j is an error of the span', async (result, type) => {
  const { traced, spans } = setUp(result)
  await traced.post(post)
  expect(spans()[0]?.status.code).toBe(api.SpanStatusCode.ERROR)
  expect(spans()[0]?.attributes['error.type']).toBe(type)
})

it('a URL that cannot be parsed does not change the result of a delivery', async () => {
  expect(await setUp(answer(204)).traced.post({ ...post, url: 'nonsense' })).toEqual(answer(204))
})

it('a trace that is not sampled keeps no span, and traceparent says so', async () => {
  const { traced, posts, spans } = setUp(answer(204), { sampling: 'none' })
  await traced.post(post)
  expect(spans()).toEqual([])
  expect(posts[0]?.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
})

const broken = () => {
  throw new Error('broken SDK')
}

/** A tracer of a real SDK, one method of whose spans is broken. */
function brokenAt(method: keyof api.Span): api.Tracer {
  const tracer = recordSpans().provider.getTracer('test')
  const startSpan: api.Tracer['startSpan'] = (...args) => Object.assign(tracer.startSpan(...args), { [method]: broken })
  return { startSpan, startActiveSpan: broken }
}

it.each([
  ['startSpan', { startSpan: broken, startActiveSpan: broken }, false],
  ['spanContext', brokenAt('spanContext'), false],
  ['setAttribute', brokenAt('setAttribute'), true],
  ['setStatus', brokenAt('setStatus'), true],
  ['end', brokenAt('end'), true],
] as const)('an SDK whose %s throws does not change the result of a delivery', async (_, tracer, isTraced) => {
  for (const result of [answer(204), answer(500)]) {
    const { traced, posts } = setUp(result, { tracer })
    expect(await traced.post(post)).toEqual(result)
    expect(posts.map(({ headers }) => 'traceparent' in headers)).toEqual([isTraced])
  }
})

it.each(['setStatus', 'end'] as const)('an SDK whose %s throws hides no event from the sinks after it', (method) => {
  const { onEvent } = setUp(answer(204), { tracer: brokenAt(method) })
  const event = { type: 'delivery.exhausted', ...payment, deliveryId: '7', version: 2, reason: 'timeout' } as const
  expect(() => onEvent(event)).not.toThrow()
})

it('a trace id is the first half of SHA-256 over chain, hash and integration, and the parent id what follows', () => {
  const digest = createHash('sha256').update(`137:${payment.txHash}:${payment.integrationAddress}`).digest()
  expect(computeTraceIds(payment)).toEqual({
    traceId: digest.subarray(0, 16).toString('hex'),
    parentId: digest.subarray(16, 24).toString('hex'),
  })
})
