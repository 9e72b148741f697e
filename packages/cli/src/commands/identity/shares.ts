/** `payment-integration identity shares`. @module */
import type { ExitCode, Io } from '../../io.js'
import type { IdentityOptions } from './choose-key.js'
import { listNewest } from './list-newest.js'
import { sharesText } from './text.js'

/**
 * Prints shares and their outcomes, newest first, without e-mail addresses and tokens. With `json`, one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or a filter is malformed.
 */
export function listShares(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.shares(query),
    event: (share) => ({ event: 'share', share }),
    text: sharesText,
    none: 'No share matches.',
  })
}
