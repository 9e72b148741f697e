/** How commands print an integration. @module */
import type { IntegrationView } from '@payment-integration/core'

/** One line about an integration. */
export function integrationLine({ address, enabled, name, notificationUrl }: IntegrationView): string {
  return `${address}  ${enabled ? 'enabled ' : 'disabled'}  ${notificationUrl ?? 'no notifications'}  ${name}`.trimEnd()
}
