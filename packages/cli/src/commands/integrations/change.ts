/** `payment-integration integrations enable`, `disable` and `set-url`. @module */
import type { ExitCode, Io } from '../../io.js'
import { integrationLine } from './text.js'
import { type IntegrationOptions, withIntegrations } from './with-integrations.js'

/**
 * Lets an integration in or shuts it out: a disabled one is answered 401 and gets no deliveries until it is enabled.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`.
 */
export function setIntegrationEnabled(
  address: string,
  enabled: boolean,
  options: IntegrationOptions,
  io: Io,
): Promise<ExitCode> {
  return withIntegrations(options, io, async (integrations, report) => {
    const integration = await integrations.setEnabled(address, enabled)
    report({ event: enabled ? 'integration.enabled' : 'integration.disabled', integration }, (event) => [
      integrationLine(event.integration),
    ])
  })
}

/**
 * Changes where notifications go; null turns them off.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`; InvalidRequestError `ERR_URL_INVALID`.
 */
export function setIntegrationUrl(
  address: string,
  url: string | null,
  options: IntegrationOptions,
  io: Io,
): Promise<ExitCode> {
  return withIntegrations(options, io, async (integrations, report) => {
    const integration = await integrations.setNotificationUrl(address, url)
    report({ event: 'integration.url_set', integration }, (event) => [integrationLine(event.integration)])
  })
}
