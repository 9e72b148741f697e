/** `payment-integration integrations create`. @module */
import type { ExitCode, Io } from '../../io.js'
import { shownOnce } from '../../output/shown-once.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Options of {@link createIntegration}. */
export interface CreateIntegrationOptions extends OperateOptions {
  /** A label for people. @default empty */
  readonly name?: string | undefined
  /** Notification URL. @default none: no notifications */
  readonly url?: string | undefined
}

/**
 * Registers an integration and prints its two secrets, once.
 * @throws IntegrationError `ERR_INTEGRATION_EXISTS`; InvalidRequestError `ERR_URL_INVALID`.
 */
export function createIntegration(address: string, options: CreateIntegrationOptions, io: Io): Promise<ExitCode> {
  const { name, url } = options
  return withService({ ...options, mayCreate: true }, io, async ({ integrations }, report) => {
    const issued = await integrations.create({ address, name, notificationUrl: url ?? null })
    report({ event: 'integration.created', ...issued }, ({ integration, apiSecret, signingSecret }) => [
      `Created ${integration.address}${integration.name === '' ? '' : ` (${integration.name})`}.`,
      `  API secret      ${apiSecret}`,
      `  Webhook secret  ${signingSecret}`,
      `  Notifications   ${integration.notificationUrl ?? 'none'}`,
      `${shownOnce('Both secrets are', 'them')} A lost one is replaced by rotate-secret.`,
    ])
  })
}
