/** What the tests of identity store, and the steps they share. @module */
import type {
  EmailAddress,
  IdentitySubject,
  IdentityTransaction,
  NewRedemption,
  NewSubject,
  PersonQuery,
  RedemptionChange,
  VerificationChange,
} from '@payment-integration/core/internal'
import type { Review, Store } from '@payment-integration/core/ports'
import { epoch, shop } from './fixtures.js'

/** Text that databases are known to spoil: ids of hosts and of the provider may be any. */
export const odd = '\u0000 "%\' \ud800'

/** An address, different for each number. */
export const getEmail = (n: number, keyVersion = 1): EmailAddress => ({
  address: `user${n}@example.com`,
  key: n.toString(16).padStart(64, '0'),
  sealed: { keyVersion, sealed: `sealed ${n} ${keyVersion}` },
})

/** A rejection. */
export const rejected: Review = {
  reviewStatus: 'completed',
  reviewAnswer: 'RED',
  rejectType: 'RETRY',
  rejectLabels: [odd, 'BLURRY'],
}

/** The verification of a new subject. */
const nothing = {
  ...{ donor: null, applicantId: null, attachedNumber: null, attachedAt: null, review: null, reviewedAt: null },
  ...{ doubt: null, presence: null, missing: null },
}

/** What is stored of a new subject. */
export function stored({ id, emailKey, accountId, proved }: Omit<NewSubject, 'email'>): IdentitySubject {
  return { id, emailKey, accountId, proved, closed: false, redemptions: 0, revision: 0, ...nothing }
}

/** A subject of an account with the n-th address. */
export function carrier(id: string, n: number, accountId: string | null, proved = false): NewSubject {
  return { id, emailKey: getEmail(n).key, email: getEmail(n), accountId, proved }
}

/** The direct verification of an account. */
export function direct(id: string, accountId: string): NewSubject {
  return { id, emailKey: null, email: null, accountId, proved: false }
}

/** A redemption of a subject, named after both. */
export function redemption(subjectId: string, number: number, changes: Partial<NewRedemption> = {}): NewRedemption {
  return {
    externalUserId: `${subjectId}:${number}`,
    subjectId,
    number,
    integrationAddress: shop,
    levelName: `basic ${odd}`,
    isFindable: true,
    startedAt: epoch,
    leaseMs: 60_000,
    ...changes,
  }
}

/** Runs `work` in a transaction of its own. */
export const within = <T>(store: Store, work: (tx: IdentityTransaction) => Promise<T>): Promise<T> =>
  store.transaction((tx) => work(tx.identity))

/** The open subject of the n-th address; else a placeholder. */
export const ensure = (store: Store, n: number, freshId = `subject ${n}`): Promise<IdentitySubject> =>
  within(store, (tx) => tx.ensureSubject(getEmail(n), freshId))

/** Stores subjects, each in the lock of its account. */
export const insert = (store: Store, ...subjects: NewSubject[]): Promise<void> =>
  within(store, async (tx) => {
    await tx.lockPersons({ accountIds: subjects.flatMap(({ accountId }) => accountId ?? []) })
    for (const subject of subjects) await tx.insertSubject(subject)
  })

/** All subjects of persons. */
export const persons = (store: Store, query: PersonQuery): Promise<IdentitySubject[]> =>
  within(store, (tx) => tx.lockPersons(query))

/** A subject, which must exist. */
export async function getSubject(store: Store, id: string): Promise<IdentitySubject> {
  const found = (await persons(store, { subjectId: id })).find((each) => each.id === id)
  if (found === undefined) throw new Error(`There is no subject ${id}.`)
  return found
}

/** Changes a verification in the lock of its person. */
export const change = (store: Store, subjectId: string, changes: VerificationChange): Promise<void> =>
  within(store, async (tx) => {
    await tx.lockPersons({ subjectId })
    await tx.changeVerification(subjectId, changes)
  })

/** Gives a subject to an account, or closes it. */
export const own = (
  store: Store,
  subjectId: string,
  owner: Parameters<IdentityTransaction['setOwner']>[1],
): Promise<void> =>
  within(store, async (tx) => {
    await tx.lockPersons({ subjectId, accountIds: typeof owner.accountId === 'string' ? [owner.accountId] : [] })
    await tx.setOwner(subjectId, owner)
  })

/** Adds redemptions in the lock of their persons. */
export async function redeem(store: Store, ...redemptions: NewRedemption[]): Promise<void> {
  for (const each of redemptions)
    await within(store, async (tx) => {
      await tx.lockPersons({ subjectId: each.subjectId })
      await tx.addRedemption(each)
    })
}

/** Changes a redemption in the lock of its person. */
export const end = (store: Store, externalUserId: string, changes: RedemptionChange): Promise<void> =>
  within(store, async (tx) => {
    const known = await tx.redemption(externalUserId)
    await tx.lockPersons({ subjectId: known?.subjectId })
    await tx.changeRedemption(externalUserId, changes)
  })
