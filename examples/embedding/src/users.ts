/**
 * The host's users and the owner of an e-mail address. In memory here; a real host has them in its database.
 * @module
 */
import { normalizeEmail } from '@payment-integration/core/identity'
import type { IdentityAccounts } from '@payment-integration/core/ports'

/** The host's users. */
export interface Users {
  /** Adds a user with an unproved address. Returns the id. */
  register(email: string): string
  /** Gives the address to this user and takes it from every other. */
  own(accountId: string, email: string): void
  /** The service looks up the owner of an address here. */
  readonly accounts: IdentityAccounts
}

interface User {
  readonly email: string | null
  readonly proved: boolean
}

/** Makes a host without users. */
export function createUsers(): Users {
  /** By id, in the order of registration. */
  const users = new Map<string, User>()
  return {
    register(email) {
      const id = `user-${users.size + 1}`
      users.set(id, { email: normalizeEmail(email), proved: false })
      return id
    },
    own(accountId, input) {
      const email = normalizeEmail(input)
      for (const [id, user] of users) if (user.email === email) users.set(id, { email: null, proved: false })
      users.set(accountId, { email, proved: true })
    },
    accounts: {
      async findAddressOwner({ address }) {
        const carriers = [...users].filter(([, { email }]) => email === address)
        const owner = carriers.find(([, { proved }]) => proved) ?? carriers[0]
        return owner === undefined ? null : { accountId: owner[0], proved: owner[1].proved }
      },
    },
  }
}
