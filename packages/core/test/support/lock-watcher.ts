/** In which order transactions hold addresses and lock verifications. @module */
import type { StoreTransaction } from '../../src/ports/store-transaction.js'

/** What it is told, and tells. */
export interface LockWatch {
  /** An order was not kept. */
  readonly broke: (detail: string) => void
  /** The address of a keyed hash. */
  readonly nameOf: (emailKey: string) => string
  /** Whether anybody else can lock the verification of an account. */
  readonly isKnown: (accountId: string) => boolean
}

/** Watches transactions: addresses come before verifications, each kind in the order of its keys. */
export function lockWatcher({ broke, nameOf, isKnown }: LockWatch): (tx: StoreTransaction) => StoreTransaction {
  return (tx) => {
    const held: string[] = []
    const locked: string[] = []
    const hold = (key: string) => {
      if (held.includes(key)) return
      if (locked.length > 0) broke(`address ${nameOf(key)} after verifications ${locked}`)
      if (held.some((each) => each > key)) broke(`address ${nameOf(key)} after ${held.map(nameOf)}`)
      held.push(key)
    }
    const lock = (accountId: string) => {
      if (locked.includes(accountId)) return
      if (isKnown(accountId) && locked.some((each) => each > accountId))
        broke(`verification ${accountId} after ${locked}`)
      locked.push(accountId)
    }
    const { identityAccounts: accounts, verifications } = tx
    return {
      ...tx,
      identityAccounts: {
        ...accounts,
        hold(email, fresh) {
          hold(email.key)
          return accounts.hold(email, fresh)
        },
        async holdKnown(key, fresh) {
          const accountId = await accounts.holdKnown(key, fresh)
          if (accountId !== null) hold(key)
          return accountId
        },
      },
      verifications: {
        ...verifications,
        lock(accountId) {
          lock(accountId)
          return verifications.lock(accountId)
        },
        async lockByApplicant(named) {
          const found = await verifications.lockByApplicant(named)
          if (found !== null) lock(found.verification.accountId)
          return found
        },
      },
    }
  }
}
