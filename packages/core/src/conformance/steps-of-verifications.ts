/** Steps of the tests of verifications. @module */
import type { Store } from '../ports/store.js'
import type { VerificationChange } from '../ports/store-verifications.js'

/** Locks an account's verification in a transaction of its own. */
export const lockVerification = (store: Store, accountId: string) =>
  store.transaction((tx) => tx.verifications.lock(accountId))

/** Changes an account's verification in a transaction that holds its lock, as the port asks for. */
export const changeVerification = (store: Store, changes: VerificationChange, accountId: string) =>
  store.transaction(async (tx) => {
    await tx.verifications.lock(accountId)
    await tx.verifications.change(accountId, changes)
  })
