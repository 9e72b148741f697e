/** `payment-integration integrations list`. @module */
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { integrationLine } from './text.js'

/** Prints every integration without its secrets, by address. With `json`, one object each and nothing when there is none. */
export function listIntegrations(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
    const all = await integrations.list()
    if (all.length === 0 && !options.json) io.out('There is no integration yet. Create one with integrations create.')
    for (const integration of all)
      report({ event: 'integration', integration }, (event) => [integrationLine(event.integration)])
  })
}
