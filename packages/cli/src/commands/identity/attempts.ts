/** `payment-integration identity attempts`. @module */
import type { ExitCode, Io } from '../../io.js'
import type { IdentityOptions } from './choose-key.js'
import { listNewest } from './list-newest.js'
import { attemptsText } from './text.js'

/**
 * Prints attempts to share, newest first, without e-mail addresses and tokens. With `json`, one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or what is looked for cannot be one.
 */
export function listAttempts(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.attempts(query),
    event: (attempt) => ({ event: 'share.attempt', attempt }),
    text: attemptsText,
    none: 'No attempt fits.',
  })
}
