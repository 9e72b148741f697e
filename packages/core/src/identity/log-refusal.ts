/** What the log is told when the provider refuses the service itself: once for each refusal, by whoever asked. Source: DESIGN section 3 (identity provider). @module */
import type { Answer, ProviderRefusal } from '../ports/identity-provider.js'
import type { Logger } from '../ports/world.js'

/** Logs a refusal that is the service's own fault, and no other. @param about - What was asked about. */
export function logRefusal(
  logger: Pick<Logger, 'error'>,
  refusal: ProviderRefusal | Exclude<Answer<unknown>, { kind: 'answer' }>,
  about: Readonly<Record<string, string>>,
): void {
  if (refusal.kind !== 'misconfigured') return
  const { reason, facts = {} } = refusal
  logger.error(
    { eventType: 'identity.misconfigured', ...about, ...facts, reason },
    'The identity provider refuses the service itself: check its credentials and permissions there, the level, and the clock of this machine.',
  )
}
