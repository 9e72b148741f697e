/**
 * The prepared statements that a server keeps for `pg`. They belong to a session, and a pooler lends sessions, so the
 * driver can be wrong about them. A pooler knows only statements that the protocol prepared. DISCARD ALL and
 * DEALLOCATE ALL drop them without notice to `pg`.
 * @module
 */
import type { Bound } from './driver.js'
import { sqlState } from './driver.js'

/** The state of prepared statements on a driver's connections. */
export interface Plans {
  /** The name under which `pg` prepares the statement on a connection, if it should. */
  nameOn(connection: object, bound: Bound): string | undefined
  /** The statement as SQL, where the connection has prepared it. */
  executeSql(connection: object, bound: Bound): string | undefined
  /** The connection has prepared the statement, if it has a name there. */
  prepared(connection: object, bound: Bound): void
  /**
   * Whether a statement of the store failed because its plan was missing, or was there already. It has done nothing and
   * can run again in another transaction. From then on this connection uses no names, and others not the failed way.
   */
  lost(connection: object, error: unknown, how: 'executed' | 'named'): boolean
}

/** Begins with EXECUTE and names, or with neither. */
export function createPlans(prepare: boolean): Plans {
  const allowed = { executed: prepare, named: prepare }
  const names = new WeakMap<object, Set<string>>()
  const distrusted = new WeakSet<object>()
  const nameOn: Plans['nameOn'] = (connection, { statement: { name } }) =>
    allowed.named && !distrusted.has(connection) ? name : undefined

  return {
    nameOn,
    executeSql(connection, bound) {
      const name = allowed.executed ? nameOn(connection, bound) : undefined
      if (name === undefined || !names.get(connection)?.has(name)) return undefined
      // Other values would need quoting.
      if (!bound.values.every((value) => /^[0-9A-Za-z]*$/.test(value))) return undefined
      return `EXECUTE ${name}(${bound.values.map((value) => `'${value}'`).join(', ')})`
    },
    prepared(connection, bound) {
      const name = nameOn(connection, bound)
      if (name === undefined) return
      names.set(connection, (names.get(connection) ?? new Set()).add(name))
    },
    lost(connection, error, how) {
      if (!planStates.includes(sqlState(error) ?? '')) return false
      allowed[how] = false
      distrusted.add(connection)
      return true
    },
  }
}

/** There is no such statement; there is one of this name already. */
const planStates = ['26000', '42P05']
