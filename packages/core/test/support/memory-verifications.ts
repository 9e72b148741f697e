import type { DataKeyStore } from '../../src/ports/store-data-keys.js'
import type { SealedSecret } from '../../src/ports/store-integrations.js'
import type {
  RedemptionClaim,
  ShareAttempt,
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
  readonly providerEvents: Set<string>
  readonly dataKeys: Map<string, SealedSecret>
}

/** No rows. */
export const noVerifications = (): VerificationRows => ({
  verifications: new Map(),
  shareAttempts: [],
  providerEvents: new Set(),
  dataKeys: new Map(),
})

/** A copy that a transaction may write to. */
export const copyOfVerifications = (rows: VerificationRows): VerificationRows => ({
  verifications: new Map(rows.verifications),
  shareAttempts: [...rows.shareAttempts],
  providerEvents: new Set(rows.providerEvents),
  dataKeys: new Map(rows.dataKeys),
})

/** The operations of a transaction on rows that are its own until it ends. @param now - Unix milliseconds. */
export function verificationsIn(rows: VerificationRows, now: () => number): VerificationTransaction {
  const { verifications } = rows
  const read = ({ claim, askAt: _, ...rest }: VerificationRow): Verification => {
    if (claim === null) return { ...rest, claim }
    const { until, ...held } = claim
    return { ...rest, claim: { ...held, lapsed: until <= now() } }
  }
  const find = (test: (row: VerificationRow) => boolean) => {
    const row = [...verifications.values()].find(test)
    return row === undefined ? null : read(row)
  }
  return {
    async lock(accountId) {
      const row = verifications.get(accountId) ?? { ...empty, accountId }
      verifications.set(accountId, row)
      return read(row)
    },
    async lockByApplicant({ applicantId, externalUserId }) {
      const known = find((row) => row.applicantId === applicantId)
      if (known !== null || externalUserId === null) return known
      return find(({ claim }) => claim?.externalUserId === externalUserId)
    },
    async change(accountId, { claim, askInMs, ...given }) {
      const row = verifications.get(accountId)
      if (row === undefined) return
      const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
      verifications.set(accountId, {
        ...row,
        ...fields,
        claim: claim === undefined ? row.claim : claim === null ? null : claimRow(claim, now()),
        askAt: askInMs === undefined ? row.askAt : askInMs === null ? null : now() + askInMs,
      })
    },
    async logAttempt(attempt) {
      rows.shareAttempts.push(attempt)
    },
    async noteEvent(eventKey) {
      if (rows.providerEvents.has(eventKey)) return false
      rows.providerEvents.add(eventKey)
      return true
    },
  }
}

function claimRow(
  { leaseMs, ...claim }: NonNullable<VerificationChange['claim']>,
  now: number,
): NonNullable<VerificationRow['claim']> {
  return { ...claim, until: now + leaseMs }
}

const empty: Omit<VerificationRow, 'accountId'> = {
  donor: null,
  applicantId: null,
  review: null,
  reviewedAt: null,
  attempts: 0,
  claim: null,
  askAt: null,
}

/** The reads. @param rows - Asked for at every call. */
export function verificationReads(rows: () => VerificationRows, now: () => number): VerificationStore {
  return {
    async list({ emailKey, afterAccountId, limit }) {
      const keyOf = (accountId: string) =>
        rows().shareAttempts.findLast((attempt) => attempt.accountId === accountId)?.emailKey ?? ''
      const isOf = (accountId: string) =>
        rows().shareAttempts.some((attempt) => attempt.accountId === accountId && attempt.emailKey === emailKey)
      return [...rows().verifications.values()]
        .filter(({ accountId }) => emailKey === undefined || isOf(accountId))
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
    async dueForQuestion(limit) {
      return [...rows().verifications.values()]
        .flatMap(({ accountId, applicantId, askAt }) =>
          applicantId === null || askAt === null || askAt > now() ? [] : [{ accountId, applicantId, askAt }],
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
