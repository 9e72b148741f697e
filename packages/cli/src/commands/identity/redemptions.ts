/** `payment-integration identity redemptions`. @module */
import type { ExitCode, Io } from '../../io.js'
import type { IdentityOptions } from './choose-key.js'
import { redemptionsText } from './history-text.js'
import { listNewest } from './list-newest.js'

/**
 * Prints redemptions of tokens with their states, newest first. With `json`, one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or a filter is malformed.
 */
export function listRedemptions(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.redemptions(query),
    event: (redemption) => ({ event: 'redemption', redemption }),
    text: redemptionsText,
    none: 'No redemption matches.',
  })
}
