/** `payment-integration identity list`. @module */
import type { ExitCode, Io } from '../../io.js'
import { grouped } from '../../output/figures.js'
import { plain } from '../../output/plain.js'
import { withService } from '../with-service.js'
import { chooseKey, defaultLimit, type IdentityOptions, identityOf } from './choose-key.js'
import { subjectsText } from './text.js'

/** Options of {@link listSubjects}. */
export interface ListSubjectsOptions extends IdentityOptions {
  /** The id of an account: all its subjects, and what its user did without an integration. */
  readonly account?: string | undefined
  /** Begin behind the subject with this id. */
  readonly after?: string | undefined
}

/**
 * Prints subjects with their verifications, by id, without e-mail addresses. With `json`, one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or a filter is malformed.
 */
export function listSubjects(options: ListSubjectsOptions, io: Io): Promise<ExitCode> {
  const { limit = defaultLimit, account: accountId, after: afterId, json = false } = options
  return withService(options, io, async (service, report) => {
    const identity = identityOf(service)
    const emailKey = await chooseKey(identity, options, io)
    const found = await identity.subjects({ emailKey, accountId, afterId, limit: limit + 1 })
    const shown = found.slice(0, limit)
    if (json) for (const subject of shown) report({ event: 'subject', subject }, () => [])
    else if (shown.length === 0) io.out('No subject matches.')
    else for (const line of subjectsText(shown)) io.out(line)
    const last = shown.at(-1)
    if (found.length > limit && last !== undefined)
      report({ event: 'more', shown: limit, afterId: last.id }, (event) => [
        `${grouped(limit)} shown, more follow: --after ${plain(event.afterId)} goes on.`,
      ])
  })
}
