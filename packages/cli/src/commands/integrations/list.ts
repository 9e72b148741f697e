/** `payment-integration integrations list`. @module */
import type { ExitCode, Io } from '../../io.js'
import { integrationLine } from './text.js'
import { type IntegrationOptions, withIntegrations } from './with-integrations.js'

/** Prints every integration without its secrets, by address. With `json`, one object each and nothing when there is none. */
export function listIntegrations(options: IntegrationOptions, io: Io): Promise<ExitCode> {
  return withIntegrations(options, io, async (integrations, report) => {
    const all = await integrations.list()
    if (all.length === 0 && !options.json) io.out('There is no integration yet. Create one with integrations create.')
    for (const integration of all)
      report({ event: 'integration', integration }, (event) => [integrationLine(event.integration)])
  })
}
