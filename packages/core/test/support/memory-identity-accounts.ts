import type {
  AccountEvent,
  EmailAddress,
  IdentityAccount,
  IdentityAccountStore,
  IdentityAccountTransaction,
  StoredEmailCode,
} from '../../src/ports/identity-accounts.js'

/** Rows of accounts. They are replaced, never changed. */
export interface AccountRows {
  /** What addresses resolved to, by keyed hash. */
  readonly resolved: Map<string, string>
  /** Registered accounts by id, in the order of their registration. */
  readonly users: Map<string, { readonly emailKey: string | null; readonly verified: boolean }>
  readonly emailCodes: Map<string, StoredEmailCode>
  readonly accountEvents: AccountEvent[]
}

/** No rows. */
export const noAccounts = (): AccountRows => ({
  resolved: new Map(),
  users: new Map(),
  emailCodes: new Map(),
  accountEvents: [],
})

/** A copy that a transaction may write to. */
export const copyOfAccounts = (rows: AccountRows): AccountRows => ({
  resolved: new Map(rows.resolved),
  users: new Map(rows.users),
  emailCodes: new Map(rows.emailCodes),
  accountEvents: [...rows.accountEvents],
})

function resolveIn({ users, resolved }: AccountRows, { key }: Pick<EmailAddress, 'key'>, fresh: string): string {
  const carriers = [...users].filter(([, { emailKey }]) => emailKey === key)
  const owner = carriers.find(([, { verified }]) => verified)
  const before = resolved.get(key)
  const user = before === undefined ? undefined : users.get(before)
  const isStillIt = user === undefined || user.emailKey === key
  const accountId = owner?.[0] ?? (isStillIt ? before : undefined) ?? carriers[0]?.[0] ?? fresh
  resolved.set(key, accountId)
  return accountId
}

/** The operations of a transaction on rows that are its own until it ends. */
export function accountsIn(rows: AccountRows): IdentityAccountTransaction {
  const { users, emailCodes } = rows
  const find = (accountId: string): IdentityAccount | null => {
    const user = users.get(accountId)
    return user === undefined ? null : { accountId, kind: 'registered', emailVerified: user.verified }
  }
  return {
    async hold(email, freshId) {
      const accountId = resolveIn(rows, email, freshId)
      return find(accountId) ?? { accountId, kind: 'placeholder', emailVerified: false }
    },
    holdKnown: async (key, freshId) => (rows.resolved.has(key) ? resolveIn(rows, { key }, freshId) : null),
    find: async (accountId) => find(accountId),
    carried: async (accountId) => users.get(accountId)?.emailKey ?? null,
    hasProved: async (accountId, emailKey) =>
      rows.accountEvents.some(
        (event) => event.action === 'claimed' && event.accountId === accountId && event.emailKey === emailKey,
      ),
    async register(email, accountId) {
      users.set(accountId, { emailKey: email.key, verified: false })
      resolveIn(rows, email, accountId)
    },
    async own(email, accountId) {
      for (const [id, { emailKey }] of users)
        if (emailKey === email.key && id !== accountId) users.set(id, { emailKey: null, verified: false })
      users.set(accountId, { emailKey: email.key, verified: true })
      resolveIn(rows, email, accountId)
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

/** Accounts in memory, and every address that was given to them. */
export interface MemoryIdentityAccounts extends IdentityAccountStore {
  readonly given: EmailAddress[]
}

/** What keeps the rows, written to directly: resolving is no transaction that a test lets fail. */
interface Keeps {
  seed(change: (rows: AccountRows) => void): void
}

/** Builds them on a store, or on rows of their own: `account-1` is the first placeholder. */
export function memoryIdentityAccounts(store: Keeps = ownRows()): MemoryIdentityAccounts {
  const given: EmailAddress[] = []
  return {
    given,
    async resolve(email) {
      given.push(email)
      let accountId = ''
      store.seed((rows) => {
        accountId = resolveIn(rows, email, `account-${rows.resolved.size + 1}`)
      })
      return { accountId }
    },
    async events({ emailKey, limit }) {
      let wanted: AccountEvent[] = []
      store.seed(({ accountEvents }) => {
        wanted = accountEvents.filter((event) => emailKey === undefined || event.emailKey === emailKey)
      })
      return wanted.reverse().slice(0, limit)
    },
  }
}

function ownRows(): Keeps {
  const rows = noAccounts()
  return { seed: (change) => change(rows) }
}
