import type { EmailAddress, IdentityAccounts } from '../../src/ports/identity-accounts.js'

/** Accounts in memory, and every address that was given to them. */
export interface MemoryIdentityAccounts extends IdentityAccounts {
  readonly given: EmailAddress[]
}

/** Builds them: `account-1` is the first placeholder. */
export function memoryIdentityAccounts(): MemoryIdentityAccounts {
  const byKey = new Map<string, string>()
  const given: EmailAddress[] = []
  const accountOf = (email: EmailAddress) => {
    given.push(email)
    const accountId = byKey.get(email.key) ?? `account-${byKey.size + 1}`
    byKey.set(email.key, accountId)
    return accountId
  }
  return {
    given,
    resolve: async (email) => ({ accountId: accountOf(email) }),
    claim: async (email) => ({ accountId: accountOf(email), kind: 'registered', emailVerified: true }),
  }
}
