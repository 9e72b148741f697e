import type { IntegrationRecord, IntegrationStore } from '../../src/ports/store-integrations.js'

/** Integrations on rows of somebody else, with the guarantees of the port. @param rows - Asked for at every call. */
export function integrationsIn(rows: () => Map<string, IntegrationRecord>): IntegrationStore {
  return {
    find: async (address) => rows().get(address) ?? null,
    async credentials(address, { current, previous }) {
      const record = rows().get(address)
      return {
        usable: record?.enabled === true && record.apiSecret !== null,
        current: record?.apiSecret ?? current,
        previous: record?.previousApiSecret ?? { ...previous, until: 0 },
      }
    },
    list: async () => [...rows().values()].sort((a, b) => (a.address < b.address ? -1 : 1)),
    async insert(record) {
      if (rows().has(record.address)) return false
      rows().set(record.address, record)
      return true
    },
    async update(address, change, onlyIf) {
      const record = rows().get(address)
      if (record === undefined) return null
      if (onlyIf !== undefined && (record.apiSecret?.hash ?? null) !== onlyIf.apiSecretHash) return null
      const changed = { ...record, ...change }
      rows().set(address, changed)
      return changed
    },
  }
}
