/** `payment-integration identity accounts`. @module */
import type { ExitCode, Io } from '../../io.js'
import type { IdentityOptions } from './choose-key.js'
import { accountEventsText } from './history-text.js'
import { listNewest } from './list-newest.js'

/**
 * Prints registrations, codes, proofs and refusals of accounts, newest first, without e-mail addresses and codes. With
 * `json`, one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or a filter is malformed.
 */
export function listAccountEvents(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.accountEvents(query),
    event: (accountEvent) => ({ event: 'account.event', accountEvent }),
    text: accountEventsText,
    none: 'No account event matches.',
  })
}
