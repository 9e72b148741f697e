/** Lines about the steps of a mirror. @module */
import type { MirrorReconciliation, MirrorStatus } from '@payment-integration/mirror'
import { grouped, momentText, shortHash, span } from '../../format.js'

/** One line about a finished run, and one about rows that the service does not have. */
export function reconciledText(found: MirrorReconciliation): string[] {
  const { full, compared, added, updated, completed, refreshed, left, unknown } = found
  const changes = Object.entries({ added, updated, completed, refreshed, incomplete: left })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${grouped(count)} ${name}`)
  const scope = full ? 'all payments' : 'the newest payments'
  return [
    `Compared ${grouped(compared)} of ${scope}: ${changes.join(', ') || 'no difference'}.`,
    ...(unknown === null || unknown.count === 0
      ? []
      : [
          `The service does not have ${grouped(unknown.count)} of the rows: ${unknown.samples
            .slice(0, 5)
            .map(({ chainId, txHash, reason }) => `${chainId}:${txHash} (${reason})`)
            .join(', ')}${unknown.count > 5 ? ', …' : ''}.`,
        ]),
  ]
}

/** One line about the lag. */
export function statusText(status: MirrorStatus): string[] {
  const { rows, incomplete, lagMs, serviceError, copied, deliveredAt } = status
  const lag = lagMs === null ? 'unknown' : span(lagMs / 1_000)
  const reason = serviceError === null ? '' : ` (the service did not answer: ${serviceError})`
  return [
    `Lag ${lag}${reason}. ${grouped(rows)} payments${copied ? '' : ' so far; older ones follow'}, ${grouped(incomplete)} incomplete. Last delivery ${momentText(deliveredAt === null ? null : Date.parse(deliveredAt))}.`,
  ]
}

/** One line about a signed delivery. The state is text from outside. */
export function deliveryText(event: {
  readonly decision: string
  readonly txHash: string
  readonly version: number
  readonly state: string | null
}): string[] {
  const stored = event.decision === 'apply' ? 'stored' : event.decision
  return [`${shortHash(event.txHash)}  v${event.version}  ${(event.state ?? 'none').slice(0, 64)}  ${stored}`]
}
