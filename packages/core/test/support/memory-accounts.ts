import type { AccountRecord, AccountStore, AccountTransaction } from '../../src/ports/store-accounts.js'

/** Accounts in memory with the guarantees of the port. */
export function memoryAccounts(...stored: readonly AccountRecord[]): AccountStore {
  const rows = new Map(stored.map((record) => [record.handle, record]))
  return linkAccountsIn(() => rows)
}

/** The same on rows that change. @param rows - Asked for at every call. */
export function linkAccountsIn(rows: () => Map<string, AccountRecord>): AccountStore & AccountTransaction {
  const sorted = () => [...rows().values()].sort((a, b) => (a.handle < b.handle ? -1 : 1))
  return {
    find: async (handle) => rows().get(handle) ?? null,
    async findByAddress(address) {
      return sorted().filter(
        (record) => record.address === address || record.config.coins.some((coin) => coin.defaultAddress === address),
      )
    },
    list: async () => sorted(),
    async insert(record) {
      if (rows().has(record.handle)) return false
      rows().set(record.handle, record)
      return true
    },
    async update(handle, change) {
      const record = rows().get(handle)
      if (record === undefined) return null
      const changed = { ...record, ...change }
      rows().set(handle, changed)
      return changed
    },
    remove: async (handle) => rows().delete(handle),
  }
}
