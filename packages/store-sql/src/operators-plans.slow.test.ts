import type { Store } from '@payment-integration/core/ports'
import { indexedPlanTests } from '../test/support/indexed-plans.js'
import type { Compiled } from '../test/support/plans.js'
import type { Engine } from './engine.js'
import { expiredSessionsQuery, linkQuery, nameQuery, sessionQuery, sessionsOfQuery } from './operators/operators.js'

/** Operators, and sessions of each. */
const operators = 2_000
const sessions = 3
const hashOf = (n: number) => n.toString(16).padStart(64, '0')

async function fill(store: Store): Promise<void> {
  await store.transaction(async (tx) => {
    for (let n = 0; n < operators; n += 1) {
      const name = `operator-${n}`
      const link = { hash: hashOf(n), expiresAt: n }
      await tx.operators.insert({ name, role: 'viewer', enabled: true, passphrase: null, link, createdAt: n })
      for (let s = 0; s < sessions; s += 1)
        await tx.operators.insertSession({ hash: hashOf(n * sessions + s), operator: name, createdAt: 0, expiresAt: n })
    }
  })
}

const queries = (db: Engine['read']): Record<string, Compiled> => ({
  'operator by name': nameQuery(db, 'operator-7') as Compiled,
  'operator by link': linkQuery(db, hashOf(7)) as Compiled,
  'session with its operator': sessionQuery(db, hashOf(7)) as Compiled,
  'sessions of an operator': deleteOperatorSessionsQuery(db, 'operator-7') as Compiled,
  'expired sessions': deleteExpiredOperatorSessionsQuery(db, 1) as Compiled,
})

indexedPlanTests({ rows: 'operators and sessions', fill, queries, maxTouched: 2 * sessions })
