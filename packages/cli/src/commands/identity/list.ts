/** `payment-integration identity list`. @module */
import type { ExitCode, Io } from '../../io.js'
import { grouped } from '../../output/figures.js'
import { plain } from '../../output/plain.js'
import { withService } from '../with-service.js'
import { chooseKey, defaultLimit, type IdentityOptions, identityOf } from './choose-key.js'
import { verificationsText } from './text.js'

/** Options of {@link listVerifications}. */
export interface ListVerificationsOptions extends IdentityOptions {
  /** Begin behind the verification of this account. */
  readonly after?: string | undefined
}

/**
 * Prints verifications by account, without e-mail addresses. With `json`, one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or what is looked for cannot be one.
 */
export function listVerifications(options: ListVerificationsOptions, io: Io): Promise<ExitCode> {
  const { limit = defaultLimit, after: afterAccountId, json = false } = options
  return withService(options, io, async (service, report) => {
    const identity = identityOf(service)
    const emailKey = await chooseKey(identity, options, io)
    const found = await identity.verifications({ emailKey, afterAccountId, limit: limit + 1 })
    const shown = found.slice(0, limit)
    if (json) for (const verification of shown) report({ event: 'verification', verification }, () => [])
    else if (shown.length === 0) io.out('No verification fits.')
    else for (const line of verificationsText(shown)) io.out(line)
    const last = shown.at(-1)
    if (found.length > limit && last !== undefined)
      report({ event: 'more', shown: limit, afterAccountId: last.accountId }, (event) => [
        `${grouped(limit)} shown, more follow: --after ${plain(event.afterAccountId)} goes on.`,
      ])
  })
}
