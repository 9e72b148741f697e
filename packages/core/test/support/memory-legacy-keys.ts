import type { LegacyKeyRecord, LegacyKeyStore } from '../../src/ports/store-legacy-keys.js'

/** Legacy API keys in memory with the guarantees of the port, and every look-up that was made. */
export interface MemoryLegacyKeys extends LegacyKeyStore {
  readonly lookups: Parameters<LegacyKeyStore['findByHash']>[0][]
}

/** Builds the store. */
export function memoryLegacyKeys(...stored: readonly LegacyKeyRecord[]): MemoryLegacyKeys {
  const rows = new Map(stored.map((record) => [record.id, record]))
  return legacyKeysIn(() => rows)
}

/** The store on rows of somebody else. @param rows - Asked for at every call. */
export function legacyKeysIn(rows: () => Map<string, LegacyKeyRecord>): MemoryLegacyKeys {
  const lookups: MemoryLegacyKeys['lookups'] = []
  const withHash = ({ keyVersion, hash }: LegacyKeyRecord['secret']) =>
    [...rows().values()].find(({ secret }) => secret.keyVersion === keyVersion && secret.hash === hash)
  return {
    lookups,
    async findByHash(hashes) {
      lookups.push(hashes)
      return hashes.map(withHash).find((record) => record !== undefined) ?? null
    },
    list: async () => [...rows().values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
    async insert(record) {
      if (rows().has(record.id) || withHash(record.secret) !== undefined) return false
      rows().set(record.id, record)
      return true
    },
    async revoke(id, at) {
      const record = rows().get(id)
      if (record === undefined) return null
      const revoked = { ...record, revokedAt: record.revokedAt ?? at }
      rows().set(id, revoked)
      return revoked
    },
  }
}
