// Exports traces to an OpenTelemetry collector:
//   NODE_OPTIONS='--import ./otlp.mjs' PI_TRACING=on payment-integration serve
// Install beside the command: @opentelemetry/api @opentelemetry/resources @opentelemetry/sdk-trace-base
// @opentelemetry/exporter-trace-otlp-http
import { trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base'

// The exporter reads OTEL_EXPORTER_OTLP_ENDPOINT.
const processor = new BatchSpanProcessor(new OTLPTraceExporter(), { scheduledDelayMillis: 1_000 })
const sampler = new TraceIdRatioBasedSampler(Number(process.env['OTEL_TRACES_SAMPLER_ARG'] ?? '1'))
const resource = resourceFromAttributes({ 'service.name': process.env['OTEL_SERVICE_NAME'] ?? 'payment-integration' })
trace.setGlobalTracerProvider(new BasicTracerProvider({ resource, sampler, spanProcessors: [processor] }))
// Spans of the last second of a shutdown may be lost. A rejected export must not end the process while it drains.
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => processor.forceFlush().catch(() => undefined))
