/** `payment-integration integrations list`. @module */
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { endpointLines, integrationLine, rotationLines } from './text.js'

/**
 * Prints every integration without its secrets, by address, which endpoints fail, and which webhook secrets are being
 * replaced. With `json`, one object each and nothing when there is none; `endpoint` is null unless it failed at least
 * once in a row.
 */
export function listIntegrations(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ integrations, deliveries }, report) => {
    const all = await integrations.list()
    if (all.length === 0 && !options.json) io.out('There is no integration yet. Create one with integrations create.')
    const endpoints = new Map((await deliveries.endpoints()).map((each) => [each.integrationAddress, each]))
    for (const integration of all) {
      const endpoint = endpoints.get(integration.address) ?? null
      report({ event: 'integration', integration, endpoint }, (event) => [
        integrationLine(event.integration),
        ...endpointLines(event.endpoint),
        ...rotationLines(event.integration),
      ])
    }
  })
}
