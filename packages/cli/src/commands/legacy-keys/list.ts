/** `payment-integration legacy-keys list`. @module */
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { legacyKeyLine } from './text.js'

/** Prints every legacy API key without its secret, oldest first. With `json`, one object each and nothing when there is none. */
export function listLegacyKeys(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ legacyKeys }, report) => {
    const all = await legacyKeys.list()
    if (all.length === 0 && !options.json) io.out('There is no legacy API key yet. Create one with legacy-keys create.')
    for (const key of all) report({ event: 'legacy_key', key }, (event) => [legacyKeyLine(event.key)])
  })
}
