/** `payment-integration identity redemptions`. @module */
import type { ExitCode, Io } from '../../io.js'
import type { IdentityOptions } from './choose-key.js'
import { redemptionsText } from './history-text.js'
import { listNewest } from './list-newest.js'

/**
 * Prints attempts that may have sent a token to the provider, newest first, and what became of each. With `json`, one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or what is looked for cannot be one.
 */
export function listRedemptions(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.redemptions(query),
    event: (redemption) => ({ event: 'redemption', redemption }),
    text: redemptionsText,
    none: 'No redemption fits.',
  })
}
