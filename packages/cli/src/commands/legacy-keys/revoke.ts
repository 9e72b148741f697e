/** `payment-integration legacy-keys revoke`. @module */
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { legacyKeyLine } from './text.js'

/**
 * Ends a legacy API key: a quarter of a second later at the latest, a running server answers requests with it 401. Revoking it
 * again changes nothing. Source: docs/decisions/authentication-cache.md.
 * @throws LegacyKeyNotFoundError `ERR_LEGACY_KEY_NOT_FOUND`.
 */
export function revokeLegacyKey(id: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ legacyKeys }, report) => {
    const key = await legacyKeys.revoke(id)
    report({ event: 'legacy_key.revoked', key }, (event) => [legacyKeyLine(event.key)])
  })
}
