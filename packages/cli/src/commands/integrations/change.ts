/** `payment-integration integrations enable`, `disable` and `set-url`. @module */
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { integrationLine } from './text.js'

/**
 * Lets an integration in or shuts it out: a disabled one is answered 401, by a running server a quarter of a second later at the
 * latest, and gets no deliveries until it is enabled. Source: docs/decisions/authentication-cache.md.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`.
 */
export function setIntegrationEnabled(
  address: string,
  enabled: boolean,
  options: OperateOptions,
  io: Io,
): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
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
  options: OperateOptions,
  io: Io,
): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
    const integration = await integrations.setNotificationUrl(address, url)
    report({ event: 'integration.url_set', integration }, (event) => [integrationLine(event.integration)])
  })
}
