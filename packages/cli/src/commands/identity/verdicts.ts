/** `payment-integration identity verdicts`. @module */
import type { ExitCode, Io } from '../../io.js'
import type { IdentityOptions } from './choose-key.js'
import { verdictsText } from './history-text.js'
import { listNewest } from './list-newest.js'

/**
 * Prints what the provider or an operator reported of applicants, newest first, and whether it counted. With `json`,
 * one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or a filter is malformed.
 */
export function listVerdicts(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.verdicts(query),
    event: (verdict) => ({ event: 'verdict', verdict }),
    text: verdictsText,
    none: 'No verdict matches.',
  })
}
