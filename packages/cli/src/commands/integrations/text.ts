/** How commands print an integration. @module */
import type { IntegrationView } from '@payment-integration/core'
import type { EndpointView } from '@payment-integration/core/ports'
import { momentText } from '../../output/moments.js'

/** One line about an integration. */
export function integrationLine({ address, enabled, name, notificationUrl }: IntegrationView): string {
  return `${address}  ${enabled ? 'enabled ' : 'disabled'}  ${notificationUrl ?? 'no notifications'}  ${name}`.trimEnd()
}

/** More lines about an integration whose webhook secret is being replaced. */
export function rotationLines({ signingSecretPrepared, previousSigningSecretUntil: until }: IntegrationView): string[] {
  return [
    ...(signingSecretPrepared ? ['  its next webhook secret is prepared: rotate-secret --signing --activate'] : []),
    ...(until === null
      ? []
      : [`  what it rejects is sent once more with the previous webhook secret until ${momentText(until)}`]),
  ]
}

/** One more line about an integration whose endpoint is blocked; none about another. */
export function endpointLines(endpoint: EndpointView | null): string[] {
  if (endpoint === null || endpoint.blocks === 0) return []
  const { failures, failingSince } = endpoint
  return [`  its endpoint fails since ${momentText(failingSince)}, ${failures} times in a row: deliveries endpoints`]
}
