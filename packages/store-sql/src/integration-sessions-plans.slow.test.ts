import type { Store } from '@payment-integration/core/ports'
import * as fixtures from '../test/conformance/fixtures.js'
import { indexedPlanTests } from '../test/support/indexed-plans.js'
import type { Compiled } from '../test/support/plans.js'
import type { Engine } from './engine.js'
import {
  deleteExpiredIntegrationSessionsQuery,
  deleteIntegrationSessionsQuery,
  integrationSessionQuery,
} from './integrations/integration-sessions.js'

/** Integrations, and sessions of each. */
const integrations = 2_000
const sessions = 3
const hashOf = (n: number) => n.toString(16).padStart(64, '0')

async function fill(store: Store): Promise<void> {
  await store.transaction(async (tx) => {
    for (let n = 0; n < integrations; n += 1) {
      const integrationAddress = fixtures.address(n)
      await tx.integrations.insert(fixtures.integration({ address: integrationAddress }))
      const times = { createdAt: 0, expiresAt: n }
      for (let s = 0; s < sessions; s += 1)
        await tx.integrationSessions.insert({
          hash: hashOf(n * sessions + s),
          integrationAddress,
          apiSecretHash: hashOf(n),
          ...times,
        })
    }
  })
}

const queries = (db: Engine['read']): Record<string, Compiled> => ({
  'session with its integration': integrationSessionQuery(db, hashOf(7)) as Compiled,
  'sessions of an integration': integrationSessionsOfQuery(db, fixtures.address(7)) as Compiled,
  'expired sessions': expiredIntegrationSessionsQuery(db, 1) as Compiled,
})

indexedPlanTests({ rows: 'sessions of integrations', fill, queries, maxTouched: 2 * sessions })
