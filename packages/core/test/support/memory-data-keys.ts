import type { DataKeyStore, DataKeyTransaction } from '../../src/ports/store-data-keys.js'
import type { SealedSecret } from '../../src/ports/store-integrations.js'

/** Data keys. @param rows - Asked for at every call. */
export function memoryDataKeys(rows: () => Map<string, SealedSecret>): DataKeyStore {
  return {
    async obtain(purpose, candidate) {
      const known = rows().get(purpose) ?? candidate
      rows().set(purpose, known)
      return known
    },
  }
}

/** Data keys within a transaction. */
export function dataKeysIn(rows: Map<string, SealedSecret>): DataKeyTransaction {
  return {
    list: async () =>
      [...rows].map(([purpose, key]) => ({ purpose, key })).sort((a, b) => (a.purpose < b.purpose ? -1 : 1)),
    async replace(purpose, before, after) {
      const known = rows.get(purpose)
      if (known?.sealed !== before.sealed || known.keyVersion !== before.keyVersion) return false
      rows.set(purpose, after)
      return true
    },
  }
}
