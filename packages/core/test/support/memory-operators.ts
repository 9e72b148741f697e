import type { OperatorRecord, OperatorStore, OperatorTransaction } from '../../src/ports/store-operators.js'
import type { MemoryState } from './memory-state.js'

type Rows = Pick<MemoryState, 'operators' | 'sessions'>

/** Reads of operators and sessions in memory. @param rows - Asked for at every call. */
export function operatorReads(rows: () => Rows): OperatorStore {
  const withLink = (hash: string) => [...rows().operators.values()].find(({ link }) => link?.hash === hash) ?? null
  return {
    find: async (name) => rows().operators.get(name) ?? null,
    findByLink: async (hash) => withLink(hash),
    list: async () => [...rows().operators.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    async findSession(hash) {
      const session = rows().sessions.get(hash)
      const operator = rows().operators.get(session?.operator ?? '')
      return session === undefined || operator === undefined ? null : { session, operator }
    },
  }
}

/** Operators and sessions on the rows of a transaction. */
export function operatorsIn({ operators, sessions }: Rows): OperatorTransaction {
  const { find, findByLink, list } = operatorReads(() => ({ operators, sessions }))
  const isTaken = async ({ link }: OperatorRecord) => link !== null && (await findByLink(link.hash)) !== null
  return {
    find,
    findByLink,
    list,
    async insert(record) {
      if (operators.has(record.name) || (await isTaken(record))) return false
      operators.set(record.name, record)
      return true
    },
    async update(name, change) {
      const record = operators.get(name)
      if (record === undefined) return null
      const given = Object.entries(change).filter(([, value]) => value !== undefined)
      const changed: OperatorRecord = { ...record, ...Object.fromEntries(given) }
      operators.set(name, changed)
      return changed
    },
    async insertSession(session) {
      if (sessions.has(session.hash)) throw new RangeError('the session is stored already')
      if (!operators.has(session.operator)) throw new RangeError('the session has no operator')
      sessions.set(session.hash, session)
    },
    async deleteSession(hash) {
      const session = sessions.get(hash) ?? null
      sessions.delete(hash)
      return session
    },
    async deleteSessionsOf(operator) {
      const own = [...sessions.values()].filter((session) => session.operator === operator)
      for (const { hash } of own) sessions.delete(hash)
      return own.length
    },
    async keepNewestSessions(operator, count) {
      const own = [...sessions.values()].filter((session) => session.operator === operator)
      for (const { hash } of own.sort((a, b) => b.createdAt - a.createdAt).slice(count)) sessions.delete(hash)
    },
    async deleteExpiredSessions(now) {
      for (const { hash, expiresAt } of [...sessions.values()]) if (expiresAt <= now) sessions.delete(hash)
    },
  }
}
