/** `payment-integration identity list`, `shares`, `redemptions`, `verdicts` and `accounts`. @module */
import type { Identity } from '@payment-integration/core/identity'
import { grouped } from '../../format.js'
import type { ExitCode, Io } from '../../io.js'
import type { ReportedEvent } from '../../output.js'
import { withService } from '../../with-service.js'
import { chooseKey, defaultLimit, type IdentityOptions, identityOf } from './choose-key.js'
import { accountEventsText, redemptionsText, sharesText, subjectsText, verdictsText } from './text.js'

/** Options of {@link listSubjects}. */
export interface ListSubjectsOptions extends IdentityOptions {
  /** Id of an account: all its subjects, and the verification of its user without an integration. */
  readonly account?: string | undefined
  /** Start after the subject with this id. */
  readonly after?: string | undefined
}

/**
 * Prints subjects with their verifications by id, without e-mail addresses. With `json`, prints one object each.
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
        `${grouped(limit)} shown, more follow; continue with --after ${event.afterId}.`,
      ])
  })
}

/** A list that is read newest first, of one address or of all. */
interface NewestList<T> {
  /** Reads the entries, newest first. */
  read(
    identity: Identity,
    query: { readonly emailKey: string | undefined; readonly limit: number },
  ): Promise<readonly T[]>
  /** The `--json` event of an entry. */
  event(item: T): ReportedEvent
  /** The entries as a table. */
  text(items: readonly T[]): string[]
  /** The line for an empty list. */
  readonly none: string
}

/**
 * Prints a list without e-mail addresses and tokens. With `json`, prints one object each.
 * @throws UsageError `ERR_USAGE` when sharing is off, or a filter is malformed.
 */
function listNewest<T>(options: IdentityOptions, io: Io, list: NewestList<T>): Promise<ExitCode> {
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
        `The newest ${grouped(limit)}; there are older ones, which a greater --limit prints.`,
      ])
  })
}

/** Prints shares and their outcomes, newest first. */
export function listShares(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.shares(query),
    event: (share) => ({ event: 'share', share }),
    text: sharesText,
    none: 'No share matches.',
  })
}

/** Prints redemptions of share tokens and their states, newest first. */
export function listRedemptions(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.redemptions(query),
    event: (redemption) => ({ event: 'redemption', redemption }),
    text: redemptionsText,
    none: 'No redemption matches.',
  })
}

/** Prints reports of the provider about applicants, newest first, and whether each was applied. */
export function listVerdicts(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.verdicts(query),
    event: (verdict) => ({ event: 'verdict', verdict }),
    text: verdictsText,
    none: 'No verdict matches.',
  })
}

/** Prints registrations, codes, proofs and refusals of accounts, newest first. */
export function listAccountEvents(options: IdentityOptions, io: Io): Promise<ExitCode> {
  return listNewest(options, io, {
    read: (identity, query) => identity.accountEvents(query),
    event: (accountEvent) => ({ event: 'account.event', accountEvent }),
    text: accountEventsText,
    none: 'No account event matches.',
  })
}
