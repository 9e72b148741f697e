/**
 * Opens tracing with `PI_TRACING=on`; traces POSTs, and sends `traceparent` with them. Source: docs/observability.md.
 * @module
 */
import type { Span } from '@opentelemetry/api'
import { parseUrl } from '@payment-integration/contract/internal'
import type { EventSink } from '@payment-integration/core'
import { loadPackage } from '@payment-integration/core/internal'
import type { Clock, PostRequest, PostResult, Sender } from '@payment-integration/core/ports'
import { createPaymentSpans, createSpanWriter, type SpanWriter } from './payment-trace.js'

/** The SDK's own key: instrumentations of HTTP clients then add no second span and no second header. */
const suppressTracingKey = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING'

/** Wraps a sender: one span per attempt of a delivery. Body, signature and result stay the same. */
export function createTracedSender(sender: Sender, { api, start }: SpanWriter, clock: Pick<Clock, 'now'>): Sender {
  const untraced = api.ROOT_CONTEXT.setValue(api.createContextKey(suppressTracingKey), true)

  function startAttempt({ url, delivery }: PostRequest): Span | null {
    if (delivery === undefined) return null
    const { deliveryId, version, attempt, ...payment } = delivery
    return start({
      name: 'notification.attempt',
      payment,
      startAt: clock.now(),
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
  }

  function endAttempt(span: Span, result: PostResult): void {
    const failure = findFailure(result)
    // An SDK that throws must not turn an accepted delivery into one to send again.
    try {
      if (typeof result.status === 'number') span.setAttribute('http.response.status_code', result.status)
      if (failure !== null) span.setAttribute('error.type', failure).setStatus({ code: api.SpanStatusCode.ERROR })
      span.end(new Date(clock.now()))
    } catch {}
  }

  return {
    async post(post) {
      const span = startAttempt(post)
      const parent = span === null ? null : formatTraceparent(span)
      if (span === null || parent === null) return sender.post(post)
      const headers = { ...post.headers, traceparent: parent }
      const result = await api.context.with(untraced, () => sender.post({ ...post, headers }))
      endAttempt(span, result)
      return result
    },
  }
}

/** Null where the SDK threw. */
function formatTraceparent(span: Span): string | null {
  try {
    const { traceId, spanId, traceFlags } = span.spanContext()
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  } catch {
    return null
  }
}

function findFailure(result: PostResult): string | null {
  if (result.kind === 'failure') return result.reason
  return result.status >= 200 && result.status < 300 ? null : String(result.status)
}

/**
 * Loads the OpenTelemetry API. The SDK, its sampler and its exporter are the operator's, registered before the start.
 * @throws MissingPackageError `ERR_PACKAGE_MISSING` when the package is not installed.
 */
export async function openTracing(
  clock: Pick<Clock, 'now'>,
): Promise<{ readonly onEvent: EventSink; traced(sender: Sender): Sender }> {
  const api = await loadPackage('@opentelemetry/api', 'PI_TRACING', () => import('@opentelemetry/api'))
  const writer = createSpanWriter(api)
  return {
    onEvent: createPaymentSpans(writer, clock),
    traced: (sender) => createTracedSender(sender, writer, clock),
  }
}
