/** Whose deliveries wait whatever an operator does. @module */
import type { IntegrationView } from '@payment-integration/core'

/** Why nothing is sent to an integration now; null: it is. */
export type Held = 'disabled' | 'no_url' | null

/** What holds an integration's deliveries. */
export function heldBy({ enabled, notificationUrl }: Pick<IntegrationView, 'enabled' | 'notificationUrl'>): Held {
  if (!enabled) return 'disabled'
  return notificationUrl === null ? 'no_url' : null
}

/** Says so, for the end of a line; empty when nothing holds them. */
export function heldText(held: Held): string {
  if (held === null) return ''
  return held === 'disabled' ? 'waits until the integration is enabled' : 'waits until the integration has a URL'
}
