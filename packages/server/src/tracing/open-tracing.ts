/** Opens tracing with `PI_TRACING=on`. @module */
import { type EventSink, loadPackage } from '@payment-integration/core'
import type { Clock, Sender } from '@payment-integration/core/ports'
import { createPaymentSpans } from './payment-spans.js'
import { createSpanWriter } from './span-writer.js'
import { createTracedSender } from './traced-sender.js'

/** The two ends of tracing. */
export interface Tracing {
  readonly onEvent: EventSink
  traced(sender: Sender): Sender
}

/**
 * Loads the OpenTelemetry API. The SDK, its sampler and its exporter are the operator's, registered before the start.
 * @throws MissingPackageError `ERR_PACKAGE_MISSING` when the package is not installed.
 */
export async function openTracing(clock: Pick<Clock, 'now'>): Promise<Tracing> {
  const api = await loadPackage('@opentelemetry/api', 'PI_TRACING', () => import('@opentelemetry/api'))
  const writer = createSpanWriter(api)
  return {
    onEvent: createPaymentSpans(writer, clock),
    traced: (sender) => createTracedSender(sender, writer, clock),
  }
}
