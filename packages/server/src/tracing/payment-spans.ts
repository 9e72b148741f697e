/** Turns events into spans of the payment's trace. Source: docs/observability.md. @module */
import type { Attributes } from '@opentelemetry/api'
import type { EventSink, ServiceEvent } from '@payment-integration/core'
import type { Clock } from '@payment-integration/core/ports'
import type { SpanWriter } from './span-writer.js'

/** What an event adds to a trace; it ends when the event is published. */
interface EventSpan {
  readonly name: string
  /** How long before its end it began, in milliseconds. */
  readonly lastedMs: number
  readonly attributes: Attributes
  /** The reason of a failure, or null. */
  readonly failure: string | null
}

/** Builds the sink. A payment that names no integration has no receiver, so it has no trace. */
export function createPaymentSpans({ api, start }: SpanWriter, clock: Pick<Clock, 'now'>): EventSink {
  return (event) => {
    if (!('txHash' in event && 'integrationAddress' in event)) return
    const { chainId, txHash, integrationAddress } = event
    const now = clock.now()
    const found = integrationAddress === null ? null : spanOf(event, now)
    if (integrationAddress === null || found === null) return
    const { name, lastedMs, attributes, failure } = found
    const payment = { chainId, txHash, integrationAddress }
    const span = start({ name, payment, startAt: now - Math.max(0, lastedMs), attributes })
    if (failure !== null) span?.setStatus({ code: api.SpanStatusCode.ERROR, message: failure })
    span?.end(new Date(now))
  }
}

function spanOf(event: ServiceEvent, now: number): EventSpan | null {
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
