/** Starts the spans of payments through the OpenTelemetry API. @module */
import type * as Api from '@opentelemetry/api'
import { version } from '../version.js'
import { paymentTrace, type TracedPayment } from './payment-trace.js'

/** The OpenTelemetry API, which the host may lack. */
export type TracingApi = typeof Api

/** A span to start. */
export interface SpanToStart {
  readonly name: string
  readonly payment: TracedPayment
  /** Unix time in milliseconds. */
  readonly startAt: number
  readonly kind?: Api.SpanKind | undefined
  readonly attributes?: Api.Attributes | undefined
}

/** Starts spans. */
export interface SpanWriter {
  readonly api: TracingApi
  /** Null where the SDK threw: its fault must not stop the service. */
  start(span: SpanToStart): Api.Span | null
}

/**
 * Builds the writer.
 * @param tracer - By default that of the SDK which the process registered; without one no span is kept.
 */
export function createSpanWriter(
  api: TracingApi,
  tracer: Api.Tracer = api.trace.getTracer('payment-integration', version),
): SpanWriter {
  return {
    api,
    start({ name, payment, startAt, kind, attributes }) {
      const { traceId, parentId } = paymentTrace(payment)
      const parent = { traceId, spanId: parentId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true }
      const options: Api.SpanOptions = {
        // A number before the start of the process would be read as time since then.
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
