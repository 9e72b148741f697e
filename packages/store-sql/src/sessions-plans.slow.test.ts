import type { Store } from '@payment-integration/core/ports'
import { describe } from 'vitest'
import * as fixtures from '../test/conformance/fixtures.js'
import { indexedPlanTests } from '../test/support/indexed-plans.js'
import type { Compiled } from '../test/support/plans.js'
import type { Engine } from './engine.js'
import * as ofIntegrations from './integrations/integration-sessions.js'
import * as ofOperators from './operators/operators.js'

/** Operators or integrations, and sessions of each. */
const owners = 2_000
const sessions = 3
const hashOf = (n: number) => n.toString(16).padStart(64, '0')
const maxTouched = 2 * sessions

async function fillOperators(store: Store): Promise<void> {
  await store.transaction(async ({ operators }) => {
    for (let n = 0; n < owners; n += 1) {
      const name = `operator-${n}`
      const link = { hash: hashOf(n), expiresAt: n }
      await operators.insert({ name, role: 'viewer', enabled: true, passphrase: null, link, createdAt: n })
      for (let s = 0; s < sessions; s += 1)
        await operators.insertSession({ hash: hashOf(n * sessions + s), operator: name, createdAt: 0, expiresAt: n })
    }
  })
}

async function fillIntegrations(store: Store): Promise<void> {
  await store.transaction(async ({ integrations, integrationSessions }) => {
    for (let n = 0; n < owners; n += 1) {
      const integrationAddress = fixtures.address(n)
      await integrations.insert(fixtures.integration({ address: integrationAddress }))
      const session = { integrationAddress, apiSecretHash: hashOf(n), createdAt: 0, expiresAt: n }
      for (let s = 0; s < sessions; s += 1)
        await integrationSessions.insert({ hash: hashOf(n * sessions + s), ...session })
    }
  })
}

describe('operators', () => {
  const queries = (db: Engine['read']): Record<string, Compiled> => ({
    'operator by name': ofOperators.nameQuery(db, 'operator-7') as Compiled,
    'operator by link': ofOperators.linkQuery(db, hashOf(7)) as Compiled,
    'session with its operator': ofOperators.sessionQuery(db, hashOf(7)) as Compiled,
    'sessions of an operator': ofOperators.deleteOperatorSessionsQuery(db, 'operator-7') as Compiled,
    'expired sessions': ofOperators.deleteExpiredOperatorSessionsQuery(db, 1) as Compiled,
  })
  indexedPlanTests({ rows: 'operators and sessions', fill: fillOperators, queries, maxTouched })
})

describe('integrations', () => {
  const queries = (db: Engine['read']): Record<string, Compiled> => ({
    'session with its integration': ofIntegrations.integrationSessionQuery(db, hashOf(7)) as Compiled,
    'sessions of an integration': ofIntegrations.deleteIntegrationSessionsQuery(db, fixtures.address(7)) as Compiled,
    'expired sessions': ofIntegrations.deleteExpiredIntegrationSessionsQuery(db, 1) as Compiled,
  })
  indexedPlanTests({ rows: 'sessions of integrations', fill: fillIntegrations, queries, maxTouched })
})
