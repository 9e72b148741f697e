import type {
  IntegrationSessionStore,
  IntegrationSessionTransaction,
} from '../../src/ports/store-integration-sessions.js'
import type { MemoryState } from './memory-state.js'

type Rows = Pick<MemoryState, 'integrations' | 'integrationSessions'>

/** Reads of integrations' sessions in memory. @param rows - Asked for at every call. */
export function integrationSessionReads(rows: () => Rows): IntegrationSessionStore {
  return {
    async find(hash) {
      const session = rows().integrationSessions.get(hash)
      const integration = rows().integrations.get(session?.integrationAddress ?? '')
      return session === undefined || integration === undefined ? null : { session, integration }
    },
  }
}

/** Integrations' sessions on the rows of a transaction. */
export function integrationSessionsIn({ integrations, integrationSessions }: Rows): IntegrationSessionTransaction {
  return {
    async insert(session) {
      if (integrationSessions.has(session.hash)) throw new RangeError('the session is stored already')
      if (!integrations.has(session.integrationAddress)) throw new RangeError('the session has no integration')
      integrationSessions.set(session.hash, session)
    },
    async delete(hash) {
      const session = integrationSessions.get(hash) ?? null
      integrationSessions.delete(hash)
      return session
    },
    async deleteOf(integrationAddress) {
      const own = [...integrationSessions.values()].filter((each) => each.integrationAddress === integrationAddress)
      for (const { hash } of own) integrationSessions.delete(hash)
      return own.length
    },
    async keepNewest(integrationAddress, count) {
      const own = [...integrationSessions.values()].filter((each) => each.integrationAddress === integrationAddress)
      for (const { hash } of own.sort((a, b) => b.createdAt - a.createdAt).slice(count))
        integrationSessions.delete(hash)
    },
    async deleteExpired(now) {
      for (const { hash, expiresAt } of [...integrationSessions.values()])
        if (expiresAt <= now) integrationSessions.delete(hash)
    },
  }
}
