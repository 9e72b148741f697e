/** `payment-integration identity attempts`. @module */
import type { ExitCode, Io } from '../../io.js'
import { grouped } from '../../output/figures.js'
import { withService } from '../with-service.js'
import { chooseKey, defaultLimit, type IdentityOptions, identityOf } from './choose-key.js'
import { attemptsText } from './text.js'

/** Options of {@link listAttempts}. */
export type ListAttemptsOptions = IdentityOptions

/**
 * Prints attempts to share, newest first, without e-mail addresses and tokens. With `json`, one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or what is looked for cannot be one.
 */
export function listAttempts(options: ListAttemptsOptions, io: Io): Promise<ExitCode> {
  const { limit = defaultLimit, json = false } = options
  return withService(options, io, async (service, report) => {
    const identity = identityOf(service)
    const emailKey = await chooseKey(identity, options, io)
    const found = await identity.attempts({ emailKey, limit: limit + 1 })
    const shown = found.slice(0, limit)
    if (json) for (const attempt of shown) report({ event: 'share.attempt', attempt }, () => [])
    else if (shown.length === 0) io.out('No attempt fits.')
    else for (const line of attemptsText(shown)) io.out(line)
    if (found.length > limit)
      report({ event: 'more', shown: limit }, () => [
        `The newest ${grouped(limit)}; there are older ones: a greater --limit shows them.`,
      ])
  })
}
