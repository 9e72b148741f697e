/** Spans in memory, by the SDK of OpenTelemetry. */
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'

/** A provider that keeps its spans. @param sampling - `parent` follows the parent; `none` drops all. */
export function recordSpans(sampling: 'parent' | 'none' = 'parent') {
  const exporter = new InMemorySpanExporter()
  const root = new TraceIdRatioBasedSampler(1)
  const sampler = sampling === 'none' ? new AlwaysOffSampler() : new ParentBasedSampler({ root })
  const provider = new BasicTracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor(exporter)] })
  return { provider, spans: () => exporter.getFinishedSpans() }
}
