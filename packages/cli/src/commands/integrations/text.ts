/** Sentences that several commands about integrations print. @module */
import type { IntegrationView } from '@payment-integration/core'

/** Says that a secret cannot be read again. `subject` includes the verb: `The secret is`. */
export function shownOnce(subject: string): string {
  return `${subject} shown this once and never again: keep it safe now.`
}

/** One line about an integration. */
export function integrationLine({ address, enabled, name, notificationUrl }: IntegrationView): string {
  return `${address}  ${enabled ? 'enabled ' : 'disabled'}  ${notificationUrl ?? 'no notifications'}  ${name}`.trimEnd()
}
