/** Lists of the group that are read newest first, of one address or all. @module */
import type { Identity } from '@payment-integration/core/identity'
import type { ExitCode, Io } from '../../io.js'
import { grouped } from '../../output/figures.js'
import type { ReportedEvent } from '../../output/reporter.js'
import { withService } from '../with-service.js'
import { chooseKey, defaultLimit, type IdentityOptions, identityOf } from './choose-key.js'

/** What is listed. */
export interface NewestList<T> {
  /** Reads them, newest first. */
  read(
    identity: Identity,
    query: { readonly emailKey: string | undefined; readonly limit: number },
  ): Promise<readonly T[]>
  /** One of them with `--json`. */
  event(item: T): ReportedEvent
  /** All of them as text, with their heads. */
  text(items: readonly T[]): string[]
  /** Printed when there is none. */
  readonly none: string
}

/**
 * Prints a list, without e-mail addresses and tokens. With `json`, one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or a filter is malformed.
 */
export function listNewest<T>(options: IdentityOptions, io: Io, list: NewestList<T>): Promise<ExitCode> {
  const { limit = defaultLimit, json = false } = options
  return withService(options, io, async (service, report) => {
    const identity = identityOf(service)
    const emailKey = await chooseKey(identity, options, io)
    const found = await list.read(identity, { emailKey, limit: limit + 1 })
    const shown = found.slice(0, limit)
    if (json) for (const item of shown) report(list.event(item), () => [])
    else if (shown.length === 0) io.out(list.none)
    else for (const line of list.text(shown)) io.out(line)
    if (found.length > limit)
      report({ event: 'more', shown: limit }, () => [
        `The newest ${grouped(limit)}; there are older ones: a greater --limit shows them.`,
      ])
  })
}
