/** Traces payments through events and POSTs, with `PI_TRACING=on`. Source: docs/observability.md. @module */
import { createHash } from 'node:crypto'
import type * as Api from '@opentelemetry/api'
import { parseUrl } from '@payment-integration/contract/internal'
import type { ServiceEvent } from '@payment-integration/core'
import { loadPackage } from '@payment-integration/core/internal'
import type { Clock, PostRequest, PostResult, Sender } from '@payment-integration/core/ports'
import { version } from '../version.js'

interface TracedPayment {
  readonly chainId: number
  /** Lowercased. */
  readonly txHash: string
  /** Lowercased. */
  readonly integrationAddress: string
}

/**
 * The ids as lowercase hex, 32 digits of `traceId` and 16 of `parentId`: the first 24 bytes of SHA-256 over
 * `<chainId>:<txHash>:<integrationAddress>`. So processes that share nothing write into one trace, and a receiver can
 * compute the ids from a delivery. `parentId` is the parent of every span of the payment; no span has this id itself.
 */
export function computeTraceIds({ chainId, txHash, integrationAddress }: TracedPayment) {
  const digest = createHash('sha256').update(`${chainId}:${txHash}:${integrationAddress}`).digest('hex')
  return { traceId: digest.slice(0, 32), parentId: digest.slice(32, 48) }
}

/** The SDK's own key: instrumentations of HTTP clients then add no second span and no second header. */
const suppressTracingKey = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING'

/**
 * Loads the OpenTelemetry API. The SDK, its sampler and its exporter are the operator's, registered before the start.
 * @throws MissingPackageError `ERR_PACKAGE_MISSING` when the package is not installed.
 */
export async function openTracing(clock: Pick<Clock, 'now'>) {
  return createTracing(await loadPackage('@opentelemetry/api', 'PI_TRACING', () => import('@opentelemetry/api')), clock)
}

/** @param tracer - By default the tracer of the SDK that the process registered; without an SDK no span is kept. */
export function createTracing(
  api: typeof Api,
  clock: Pick<Clock, 'now'>,
  tracer: Api.Tracer = api.trace.getTracer('payment-integration', version),
) {
  const untracedContext = api.ROOT_CONTEXT.setValue(api.createContextKey(suppressTracingKey), true)

  /** @param startAt - Unix time in milliseconds. */
  function startSpan(name: string, payment: TracedPayment, startAt: number, options: Api.SpanOptions): Api.Span {
    const { traceId, parentId } = computeTraceIds(payment)
    const parent = { traceId, spanId: parentId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true }
    const attributes = {
      'payment.chain_id': payment.chainId,
      'payment.tx_hash': payment.txHash,
      'payment.integration': payment.integrationAddress,
      ...options.attributes,
    }
    // A Date, because a small number would be read as the time since the start of the process.
    const startTime = new Date(startAt)
    const context = api.trace.setSpanContext(api.ROOT_CONTEXT, parent)
    return tracer.startSpan(name, { ...options, startTime, attributes }, context)
  }

  function startAttempt(url: string, delivery: NonNullable<PostRequest['delivery']>) {
    const { deliveryId, version, attempt, ...payment } = delivery
    const span = startSpan('notification.attempt', payment, clock.now(), {
      kind: api.SpanKind.CLIENT,
      attributes: {
        'payment.version': version,
        'notification.id': deliveryId,
        'notification.attempt': attempt,
        'http.request.method': 'POST',
        // The path of a notification URL may hold a secret.
        'server.address': parseUrl(url)?.hostname ?? '',
      },
    })
    const { traceId, spanId, traceFlags } = span.spanContext()
    return { span, traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}` }
  }

  function endAttempt(span: Api.Span, result: PostResult): void {
    const failure = findFailure(result)
    if (typeof result.status === 'number') span.setAttribute('http.response.status_code', result.status)
    if (failure !== null) span.setAttribute('error.type', failure).setStatus({ code: api.SpanStatusCode.ERROR })
    span.end(new Date(clock.now()))
  }

  return {
    /** Writes spans of events. A payment that names no integration has no receiver, so it has no trace. */
    onEvent(event: ServiceEvent): void {
      if (!('txHash' in event && 'integrationAddress' in event)) return
      const { chainId, txHash, integrationAddress } = event
      if (integrationAddress === null) return
      const now = clock.now()
      const eventSpan = toEventSpan(event, now)
      if (eventSpan === null) return
      const { name, attributes, durationMs = 0, failure } = eventSpan
      const payment = { chainId, txHash, integrationAddress }
      ignoreFault(() => {
        const span = startSpan(name, payment, now - Math.max(0, durationMs), { attributes })
        if (failure !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: failure })
        span.end(new Date(now))
      })
    },
    /** Wraps a sender: one span per attempt of a delivery. Body, signature and result stay the same. */
    traceSender: (sender: Sender): Sender => ({
      async post(post) {
        const { url, delivery } = post
        const attempt = delivery === undefined ? null : ignoreFault(() => startAttempt(url, delivery))
        if (attempt === null) return sender.post(post)
        const headers = { ...post.headers, traceparent: attempt.traceparent }
        const result = await api.context.with(untracedContext, () => sender.post({ ...post, headers }))
        ignoreFault(() => endAttempt(attempt.span, result))
        return result
      },
    }),
  }
}

/** Null where the SDK threw: its fault must not hide an event, or turn an accepted delivery into one to send again. */
function ignoreFault<T>(call: () => T): T | null {
  try {
    return call()
  } catch {
    return null
  }
}

function findFailure(result: PostResult): string | null {
  if (result.kind === 'failure') return result.reason
  return result.status >= 200 && result.status < 300 ? null : String(result.status)
}

interface EventSpan {
  readonly name: string
  readonly attributes: Api.Attributes
  /** @default 0 */
  readonly durationMs?: number
  readonly failure?: string
}

/** The span of an event, which ends when the event is published; null for an event without one. */
function toEventSpan(event: ServiceEvent, now: number): EventSpan | null {
  switch (event.type) {
    case 'payment.indexed': {
      const attributes = { 'payment.version': 1, 'payment.block_number': event.blockNumber }
      return { name: 'payment.index', attributes, durationMs: now - event.blockTimestamp }
    }
    case 'update.settled': {
      const { outcome, reason } = event
      const span = { name: 'payment.update', attributes: { 'payment.update.outcome': outcome } }
      return outcome === 'rejected' ? { ...span, failure: reason ?? outcome } : span
    }
    case 'payment.changed': {
      const { version, from, to } = event
      const attributes = { 'payment.version': version, 'payment.from': from ?? 'null', 'payment.to': to ?? 'null' }
      return { name: 'payment.change', attributes }
    }
    case 'delivery.attempted': {
      const { version, attempt, publishedMs } = event
      if (publishedMs === null) return null
      const attributes = { 'payment.version': version, 'notification.attempts': attempt }
      return { name: 'notification.publish', attributes, durationMs: publishedMs }
    }
    case 'delivery.exhausted': {
      const { version, reason } = event
      const failure = reason ?? 'exhausted'
      return { name: 'notification.exhausted', attributes: { 'payment.version': version }, failure }
    }
    default:
      return null
  }
}
