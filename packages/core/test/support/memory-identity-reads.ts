/** Subjects and redemptions in memory: the reads of committed rows. @module */
import type { IdentityStore } from '../../src/ports/store-identity.js'
import { checkInteger } from './memory-checks.js'
import { type IdentityRows, openStates, redemptionOf, subjectOf } from './memory-identity.js'

/** The reads. @param rows - Asked for at every call. @param now - Unix milliseconds. */
export function identityReads(rows: () => IdentityRows, now: () => number): IdentityStore {
  const newestOf = <T extends { readonly subjectId: string }>(
    entries: Iterable<T>,
    { emailKey, limit }: { readonly emailKey?: string | undefined; readonly limit: number },
  ) =>
    [...entries]
      .filter(({ subjectId }) => emailKey === undefined || rows().subjects.get(subjectId)?.emailKey === emailKey)
      .reverse()
      .slice(0, checkInteger(limit, 'limit', 1))
  const isOpen = (id: string) =>
    [...rows().redemptions.values()].some(({ subjectId, state }) => subjectId === id && openStates.has(state))
  return {
    async subjects({ id, emailKey, accountId, afterId, limit }) {
      return [...rows().subjects.values()]
        .filter((row) => id === undefined || row.id === id)
        .filter((row) => emailKey === undefined || row.emailKey === emailKey)
        .filter((row) => accountId === undefined || row.accountId === accountId)
        .filter((row) => afterId === undefined || row.id > afterId)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, checkInteger(limit, 'limit', 1))
        .map((row) => ({ ...subjectOf(row), isOpen: isOpen(row.id) }))
    },
    shares: async (query) => newestOf(rows().shares, query),
    redemptions: async (query) => newestOf(rows().redemptions.values(), query).map((row) => redemptionOf(row, now())),
    verdicts: async (query) => newestOf(rows().verdicts, query),
    async dueLookUps(limit) {
      return [...rows().redemptions.values()]
        .flatMap(({ externalUserId, subjectId, nextLookUpAt: at }) =>
          at === null || at > now() ? [] : [{ externalUserId, subjectId, at }],
        )
        .sort((a, b) => a.at - b.at)
        .slice(0, checkInteger(limit, 'limit', 1))
        .map(({ externalUserId, subjectId }) => ({ externalUserId, subjectId }))
    },
    async duePolls(limit) {
      return [...rows().subjects.values()]
        .flatMap(({ id, applicantId, nextPollAt: at }) =>
          at === null || at > now() || applicantId === null ? [] : [{ subjectId: id, applicantId, at }],
        )
        .sort((a, b) => a.at - b.at)
        .slice(0, checkInteger(limit, 'limit', 1))
        .map(({ subjectId, applicantId }) => ({ subjectId, applicantId }))
    },
    async endFutureWaits({ leaseMs, lookUpMs, pollMs }) {
      const [{ redemptions, subjects }, at, slackMs] = [rows(), now(), 60_000]
      let ended = 0
      for (const [name, row] of redemptions) {
        if (row.nextLookUpAt === null) continue
        const [leased, lookUp] = [row.leasedUntil > at + leaseMs + slackMs, row.nextLookUpAt > at + lookUpMs + slackMs]
        if (!leased && !lookUp) continue
        const leasedUntil = leased ? at + leaseMs : row.leasedUntil
        redemptions.set(name, { ...row, leasedUntil, nextLookUpAt: lookUp ? at : row.nextLookUpAt })
        ended += 1
      }
      for (const [id, row] of subjects)
        if ((row.nextPollAt ?? 0) > at + pollMs + slackMs) {
          subjects.set(id, { ...row, nextPollAt: at })
          ended += 1
        }
      return ended
    },
    async countMissing() {
      return [...rows().subjects.values()].filter(({ missing }) => missing?.confirmed === false).length
    },
    async forgetEvents(before, limit) {
      const { providerEvents } = rows()
      const old = [...providerEvents].filter(([, at]) => at < before).slice(0, checkInteger(limit, 'limit', 1))
      for (const [eventKey] of old) providerEvents.delete(eventKey)
      return old.length
    },
  }
}
