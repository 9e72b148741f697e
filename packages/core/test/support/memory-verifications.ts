import type { DataKeyStore } from '../../src/ports/store-data-keys.js'
import type { SealedSecret } from '../../src/ports/store-integrations.js'
import type {
  RedemptionAttempt,
  RedemptionClaim,
  ShareAttempt,
  VerdictEntry,
  Verification,
  VerificationChange,
  VerificationStore,
  VerificationTransaction,
} from '../../src/ports/store-verifications.js'

/** A verification as a row. */
export interface VerificationRow extends Omit<Verification, 'claim'> {
  readonly claim: (Omit<RedemptionClaim, 'lapsed'> & { readonly until: number }) | null
  readonly askAt: number | null
}

/** Rows of verifications. They are replaced, never changed. */
export interface VerificationRows {
  readonly verifications: Map<string, VerificationRow>
  readonly shareAttempts: ShareAttempt[]
  readonly redemptions: Map<string, RedemptionAttempt>
  readonly verdicts: VerdictEntry[]
  readonly providerEvents: Map<string, number>
  readonly dataKeys: Map<string, SealedSecret>
}

/** No rows. */
export const noVerifications = (): VerificationRows => ({
  verifications: new Map(),
  shareAttempts: [],
  redemptions: new Map(),
  verdicts: [],
  providerEvents: new Map(),
  dataKeys: new Map(),
})

/** A copy that a transaction may write to. */
export const copyOfVerifications = (rows: VerificationRows): VerificationRows => ({
  verifications: new Map(rows.verifications),
  shareAttempts: [...rows.shareAttempts],
  redemptions: new Map(rows.redemptions),
  verdicts: [...rows.verdicts],
  providerEvents: new Map(rows.providerEvents),
  dataKeys: new Map(rows.dataKeys),
})

/** The operations of a transaction on rows that are its own until it ends. @param now - Unix milliseconds. */
export function verificationsIn(rows: VerificationRows, now: () => number): VerificationTransaction {
  const { verifications, redemptions } = rows
  const read = ({ claim, askAt: _, ...rest }: VerificationRow): Verification => {
    if (claim === null) return { ...rest, claim }
    const { until, ...held } = claim
    return { ...rest, claim: { ...held, lapsed: until <= now() } }
  }
  const find = (test: (row: VerificationRow) => boolean) => {
    const row = [...verifications.values()].find(test)
    return row === undefined ? null : read(row)
  }
  const lock = async (accountId: string) => {
    const row = verifications.get(accountId) ?? { ...empty, accountId }
    verifications.set(accountId, row)
    return read(row)
  }
  return {
    lock,
    async lockByApplicant({ applicantId, externalUserId }) {
      const attempt = externalUserId === null ? null : (redemptions.get(externalUserId) ?? null)
      const known = find((row) => row.applicantId === applicantId)
      if (known !== null)
        return { verification: known, attempt: attempt?.accountId === known.accountId ? attempt : null }
      return attempt && { verification: await lock(attempt.accountId), attempt }
    },
    ofApplicant: async (applicantId) => find((row) => row.applicantId === applicantId),
    async change(accountId, { claim, askInMs, askUnless, ...given }) {
      const row = verifications.get(accountId)
      if (row === undefined) return
      const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
      verifications.set(accountId, {
        ...row,
        ...fields,
        claim: claim === undefined ? row.claim : claim === null ? null : claimRow(claim, now()),
        askAt: askInMs === undefined ? row.askAt : nextQuestion(row.askAt, { askInMs, askUnless }, now()),
      })
    },
    async logAttempt(attempt) {
      rows.shareAttempts.push(attempt)
    },
    async addRedemption(attempt) {
      if (redemptions.has(attempt.externalUserId)) throw new Error(`${attempt.externalUserId} was used before`)
      redemptions.set(attempt.externalUserId, attempt)
    },
    async passRedemptions({ emailKey, fromId, toId }) {
      for (const [name, each] of redemptions)
        if (each.emailKey === emailKey && (each.takenBy ?? each.accountId) === fromId)
          redemptions.set(name, { ...each, takenBy: toId })
    },
    async keepRedemption(externalUserId, accountId) {
      const attempt = redemptions.get(externalUserId)
      if (attempt !== undefined) redemptions.set(externalUserId, { ...attempt, takenBy: accountId })
    },
    async endRedemption(externalUserId, state, applicantId) {
      const attempt = redemptions.get(externalUserId)
      if (attempt === undefined || attempt.state === 'attached') return
      redemptions.set(externalUserId, { ...attempt, state, applicantId: applicantId ?? attempt.applicantId })
    },
    redemption: async (externalUserId) => redemptions.get(externalUserId) ?? null,
    async redemptionOf(applicantId) {
      const [newest] = [...redemptions.values()]
        .filter((each) => each.applicantId === applicantId && each.state === 'attached')
        .sort((a, b) => b.claimedAt - a.claimedAt || b.number - a.number)
      return newest ?? null
    },
    async doubtfulRedemptions({ accountId, afterNumber, absentSince, limit }) {
      return [...redemptions.values()]
        .filter((each) => each.accountId === accountId && each.number > afterNumber)
        .filter(({ state, claimedAt }) => (state === 'absent' ? claimedAt >= absentSince : open.has(state)))
        .sort((a, b) => Number(a.state === 'absent') - Number(b.state === 'absent') || b.number - a.number)
        .slice(0, limit)
    },
    async noteVerdict(entry) {
      rows.verdicts.push(entry)
    },
    async noteEvent(eventKey, at) {
      if (rows.providerEvents.has(eventKey)) return false
      rows.providerEvents.set(eventKey, at)
      return true
    },
  }
}

/** When the provider is asked next, in unix milliseconds. */
function nextQuestion(
  before: number | null,
  { askInMs, askUnless }: { readonly askInMs: number | null; readonly askUnless: VerificationChange['askUnless'] },
  now: number,
): number | null {
  const next = askInMs === null ? null : now + askInMs
  const kept = askUnless === 'due' ? now : askUnless === 'sooner' ? (next ?? Number.POSITIVE_INFINITY) : null
  return before !== null && kept !== null && before <= kept ? before : next
}

function claimRow(
  { leaseMs, ...claim }: NonNullable<VerificationChange['claim']>,
  now: number,
): NonNullable<VerificationRow['claim']> {
  return { ...claim, until: now + leaseMs }
}

const open: ReadonlySet<string> = new Set(['claimed', 'unknown', 'unresolved'])

const empty: Omit<VerificationRow, 'accountId'> = {
  donor: null,
  applicantId: null,
  attempt: null,
  review: null,
  reviewedAt: null,
  doubt: null,
  presence: null,
  missing: null,
  attempts: 0,
  claim: null,
  askAt: null,
}

/** The reads. @param rows - Asked for at every call. */
export function verificationReads(rows: () => VerificationRows, now: () => number): VerificationStore {
  const isOf = (accountId: string, emailKey: string) => {
    const ofApplicant = [...rows().redemptions.values()].filter((attempt) => attempt.emailKey === emailKey)
    const applicantId = rows().verifications.get(accountId)?.applicantId ?? null
    return (
      rows().shareAttempts.some((attempt) => attempt.accountId === accountId && attempt.emailKey === emailKey) ||
      ofApplicant.some((attempt) => applicantId !== null && attempt.applicantId === applicantId)
    )
  }
  return {
    async list({ emailKey, accountId: only, afterAccountId, limit }) {
      const keyOf = (accountId: string) =>
        rows().shareAttempts.findLast((attempt) => attempt.accountId === accountId)?.emailKey ?? ''
      return [...rows().verifications.values()]
        .filter(({ accountId }) => emailKey === undefined || isOf(accountId, emailKey))
        .filter(({ accountId }) => only === undefined || accountId === only)
        .filter(({ accountId }) => afterAccountId === undefined || accountId > afterAccountId)
        .sort((a, b) => (a.accountId < b.accountId ? -1 : 1))
        .slice(0, limit)
        .map(({ claim, askAt: _, ...rest }) => ({
          ...rest,
          emailKey: emailKey ?? keyOf(rest.accountId),
          claimed: claim !== null,
        }))
    },
    async attempts({ emailKey, limit }) {
      const wanted = rows().shareAttempts.filter((attempt) => emailKey === undefined || attempt.emailKey === emailKey)
      return wanted.reverse().slice(0, limit)
    },
    async redemptions({ emailKey, limit }) {
      const wanted = [...rows().redemptions.values()].filter(
        (each) => emailKey === undefined || each.emailKey === emailKey,
      )
      return wanted.reverse().slice(0, limit)
    },
    async verdicts({ emailKey, limit }) {
      const wanted = rows().verdicts.filter(({ accountId }) => emailKey === undefined || isOf(accountId, emailKey))
      return wanted.reverse().slice(0, limit)
    },
    async countMissing() {
      return [...rows().verifications.values()].filter(({ missing }) => missing?.confirmed === false).length
    },
    async forgetEvents(before, limit) {
      const { providerEvents } = rows()
      const old = [...providerEvents].filter(([, at]) => at < before).slice(0, limit)
      for (const [eventKey] of old) providerEvents.delete(eventKey)
      return old.length
    },
    async dueForQuestion(limit) {
      return [...rows().verifications.values()]
        .flatMap(({ accountId, applicantId, askAt }) =>
          askAt === null || askAt > now() ? [] : [{ accountId, applicantId, askAt }],
        )
        .sort((a, b) => a.askAt - b.askAt)
        .slice(0, limit)
        .map(({ accountId, applicantId }) => ({ accountId, applicantId }))
    },
  }
}

/** Data keys. @param rows - Asked for at every call. */
export function memoryDataKeys(rows: () => Map<string, SealedSecret>): DataKeyStore {
  return {
    async obtain(purpose, candidate) {
      const known = rows().get(purpose) ?? candidate
      rows().set(purpose, known)
      return known
    },
    async replace(purpose, before, after) {
      const known = rows().get(purpose)
      if (known?.sealed !== before.sealed || known.keyVersion !== before.keyVersion) return false
      rows().set(purpose, after)
      return true
    },
  }
}
