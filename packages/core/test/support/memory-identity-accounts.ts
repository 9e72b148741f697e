/** Accounts of the store's own in memory. @module */
import type {
  AccountEvent,
  AddressOwner,
  EmailAddress,
  IdentityAccount,
  IdentityAccountStore,
  IdentityAccounts,
  IdentityAccountTransaction,
  StoredEmailCode,
} from '../../src/ports/identity-accounts.js'
import { checkInteger } from './memory-checks.js'

/** Rows of accounts. They are replaced, never changed. */
export interface AccountRows {
  /** Accounts by id, in the order of their registration. */
  readonly users: Map<string, { readonly emailKey: string | null; readonly verified: boolean }>
  readonly emailCodes: Map<string, StoredEmailCode>
  readonly accountEvents: AccountEvent[]
}

/** No rows. */
export const noAccounts = (): AccountRows => ({ users: new Map(), emailCodes: new Map(), accountEvents: [] })

/** A copy that a transaction may write to. */
export const copyOfAccounts = (rows: AccountRows): AccountRows => ({
  users: new Map(rows.users),
  emailCodes: new Map(rows.emailCodes),
  accountEvents: [...rows.accountEvents],
})

function resolveIn({ users }: AccountRows, key: string): AddressOwner | null {
  const carriers = [...users].filter(([, { emailKey }]) => emailKey === key)
  const owner = carriers.find(([, { verified }]) => verified) ?? carriers[0]
  return owner === undefined ? null : { accountId: owner[0], proved: owner[1].verified }
}

/** The operations of a transaction on rows that are its own until it ends. */
export function accountsIn(rows: AccountRows): IdentityAccountTransaction {
  const { users, emailCodes } = rows
  return {
    resolve: async (emailKey) => resolveIn(rows, emailKey),
    async find(accountId): Promise<IdentityAccount | null> {
      const user = users.get(accountId)
      return user === undefined ? null : { accountId, emailVerified: user.verified }
    },
    async register(email, accountId) {
      if (users.has(accountId)) throw new Error(`account ${accountId} exists`)
      users.set(accountId, { emailKey: email.key, verified: false })
    },
    async own(email, accountId) {
      for (const [id, { emailKey }] of users)
        if (emailKey === email.key && id !== accountId) users.set(id, { emailKey: null, verified: false })
      users.set(accountId, { emailKey: email.key, verified: true })
    },
    code: async (emailKey) => emailCodes.get(emailKey) ?? null,
    async setCode(emailKey, code) {
      if (code === null) emailCodes.delete(emailKey)
      else emailCodes.set(emailKey, code)
    },
    async log(event) {
      rows.accountEvents.push(event)
    },
  }
}

/** The reads. @param rows - Asked for at every call. */
export function accountReads(rows: () => AccountRows): IdentityAccountStore {
  return {
    async events({ emailKey, limit }) {
      checkInteger(limit, 'limit', 1)
      const wanted = rows().accountEvents.filter((event) => emailKey === undefined || event.emailKey === emailKey)
      return wanted.reverse().slice(0, limit)
    },
  }
}

/** A host's accounts in memory, and every address that was asked for. */
export interface MemoryHostAccounts extends IdentityAccounts {
  readonly given: EmailAddress[]
  /** Owners by keyed hash; a test writes them. */
  readonly owners: Map<string, AddressOwner>
}

/** Builds them. */
export function memoryHostAccounts(): MemoryHostAccounts {
  const given: EmailAddress[] = []
  const owners = new Map<string, AddressOwner>()
  return {
    given,
    owners,
    async resolve(email) {
      given.push(email)
      return owners.get(email.key) ?? null
    },
  }
}
