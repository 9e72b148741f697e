/** The trace of a payment: its ids, equal in every process, and its spans. Source: docs/observability.md. @module */
import { createHash } from 'node:crypto'
import type * as Api from '@opentelemetry/api'
import type { Attributes } from '@opentelemetry/api'
import type { EventSink, ServiceEvent } from '@payment-integration/core'
import type { Clock } from '@payment-integration/core/ports'
import { version } from '../version.js'

interface TracedPayment {
  readonly chainId: number
  /** Lowercased. */
  readonly txHash: string
  /** Lowercased. */
  readonly integrationAddress: string
}

/** Ids of a trace, as lowercase hex. */
interface PaymentTrace {
  /** 32 digits. */
  readonly traceId: string
  /** The parent of every span of the payment: 16 digits. No span has this id itself. */
  readonly parentId: string
}

/**
 * The ids are the first 24 bytes of SHA-256 over `<chainId>:<txHash>:<integrationAddress>`. So processes that share
 * nothing write into one trace, and a receiver can compute the ids from a delivery.
 */
export function computeTraceIds({ chainId, txHash, integrationAddress }: TracedPayment): PaymentTrace {
  const digest = createHash('sha256').update(`${chainId}:${txHash}:${integrationAddress}`).digest('hex')
  return { traceId: digest.slice(0, 32), parentId: digest.slice(32, 48) }
}

/** The OpenTelemetry API, which the host may lack. */
type TracingApi = typeof Api

interface SpanToStart {
  readonly name: string
  readonly payment: TracedPayment
  /** Unix time in milliseconds. */
  readonly startAt: number
  readonly kind?: Api.SpanKind | undefined
  readonly attributes?: Api.Attributes | undefined
}

export interface SpanWriter {
  readonly api: TracingApi
  /** Null where the SDK threw: its fault must not stop the service. */
  start(span: SpanToStart): Api.Span | null
}

/**
 * Builds a writer of spans in the traces of payments.
 * @param tracer - By default the tracer of the SDK that the process registered; without an SDK no span is kept.
 */
export function createSpanWriter(
  api: TracingApi,
  tracer: Api.Tracer = api.trace.getTracer('payment-integration', version),
): SpanWriter {
  return {
    api,
    start({ name, payment, startAt, kind, attributes }) {
      const { traceId, parentId } = computeTraceIds(payment)
      const parent = { traceId, spanId: parentId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true }
      const options: Api.SpanOptions = {
        // A Date, because a small number would be read as the time since the start of the process.
        startTime: new Date(startAt),
        attributes: {
          'payment.chain_id': payment.chainId,
          'payment.tx_hash': payment.txHash,
          'payment.integration': payment.integrationAddress,
          ...attributes,
        },
        ...(kind === undefined ? {} : { kind }),
      }
      try {
        return tracer.startSpan(name, options, api.trace.setSpanContext(api.ROOT_CONTEXT, parent))
      } catch {
        return null
      }
    },
  }
}

/** The span of an event; it ends when the event is published. */
interface EventSpan {
  readonly name: string
  /** How long the span lasted, in milliseconds. */
  readonly lastedMs: number
  readonly attributes: Attributes
  /** The reason of a failure, or null. */
  readonly failure: string | null
}

/** Builds a sink that writes spans. A payment that names no integration has no receiver, so it has no trace. */
export function createPaymentSpans({ api, start }: SpanWriter, clock: Pick<Clock, 'now'>): EventSink {
  return (event) => {
    if (!('txHash' in event && 'integrationAddress' in event)) return
    const { chainId, txHash, integrationAddress } = event
    const now = clock.now()
    const eventSpan = integrationAddress === null ? null : toEventSpan(event, now)
    if (integrationAddress === null || eventSpan === null) return
    const { name, lastedMs, attributes, failure } = eventSpan
    const payment = { chainId, txHash, integrationAddress }
    const span = start({ name, payment, startAt: now - Math.max(0, lastedMs), attributes })
    if (failure !== null) span?.setStatus({ code: api.SpanStatusCode.ERROR, message: failure })
    span?.end(new Date(now))
  }
}

function toEventSpan(event: ServiceEvent, now: number): EventSpan | null {
  switch (event.type) {
    case 'payment.indexed': {
      const { blockNumber, blockTimestamp } = event
      const attributes = { 'payment.version': 1, 'payment.block_number': blockNumber }
      return { name: 'payment.index', lastedMs: now - blockTimestamp, attributes, failure: null }
    }
    case 'update.settled': {
      const { outcome, reason } = event
      const failure = outcome === 'refused' ? (reason ?? outcome) : null
      return { name: 'payment.update', lastedMs: 0, attributes: { 'payment.update.outcome': outcome }, failure }
    }
    case 'payment.changed': {
      const { version, from, to } = event
      const attributes = { 'payment.version': version, 'payment.from': from ?? 'null', 'payment.to': to ?? 'null' }
      return { name: 'payment.change', lastedMs: 0, attributes, failure: null }
    }
    case 'delivery.attempted': {
      const { version, attempt, publishedMs } = event
      if (publishedMs === null) return null
      const attributes = { 'payment.version': version, 'notification.attempts': attempt }
      return { name: 'notification.publish', lastedMs: publishedMs, attributes, failure: null }
    }
    case 'delivery.exhausted': {
      const { version, reason } = event
      const failure = reason ?? 'exhausted'
      return { name: 'notification.exhausted', lastedMs: 0, attributes: { 'payment.version': version }, failure }
    }
    default:
      return null
  }
}
