/** Counts rejected webhooks of the identity provider. @module */
import type { Registry } from 'prom-client'
import { type MetricsLibrary, prefix } from './names.js'

/** Reasons of rejected webhooks, by the end of the error code. */
const reasons = ['unsigned', 'forged', 'malformed'] as const

/** Adds the metrics to a registry. @returns Counts a webhook that was refused, by its code `ERR_PROVIDER_WEBHOOK_…`. */
export function addIdentityMetrics({ Counter }: MetricsLibrary, registry: Registry): (code: string) => void {
  const refused = new Counter({
    name: `${prefix}identity_webhooks_refused_total`,
    help: 'Rejected webhooks of the identity provider. Repeated forged ones: the secret differs on the two sides.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of reasons) refused.inc({ reason }, 0)
  return (code) => {
    const reason = reasons.find((each) => code.endsWith(`_${each.toUpperCase()}`))
    if (reason !== undefined) refused.inc({ reason })
  }
}
