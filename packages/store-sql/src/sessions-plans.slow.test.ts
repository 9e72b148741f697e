import type { Store } from '@payment-integration/core/ports'
import { describe, expect, test } from 'vitest'
import * as fixtures from '../test/conformance/fixtures.js'
import { hashOf } from '../test/conformance/sessions.js'
import { analyze, type Fill, onFilledDatabases } from '../test/support/indexed-plans.js'
import { type Compiled, postgresScans, sqliteSteps } from '../test/support/plans.js'
import type { Engine } from './engine.js'
import * as ofIntegrations from './integrations/integration-sessions.js'
import * as ofOperators from './operators/operators.js'

/** Operators or integrations, and sessions of each. */
const owners = 2_000
const sessions = 3

async function fillOperators(store: Store): Promise<void> {
  await store.transaction(async ({ operators, operatorSessions }) => {
    for (let n = 0; n < owners; n += 1) {
      const name = `operator-${n}`
      const link = { hash: hashOf(n), expiresAt: n }
      await operators.insert({ name, role: 'viewer', enabled: true, passphrase: null, link, createdAt: n })
      for (let s = 0; s < sessions; s += 1)
        await operatorSessions.insert({ hash: hashOf(n * sessions + s), operator: name, createdAt: 0, expiresAt: n })
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

describe('operators', () =>
  plansOf('operators and sessions', fillOperators, (db) => ({
    'operator by name': ofOperators.nameQuery(db, 'operator-7'),
    'operator by link': ofOperators.linkQuery(db, hashOf(7)),
    'session with its operator': ofOperators.sessionQuery(db, hashOf(7)),
    'sessions of an operator': ofOperators.deleteOperatorSessionsQuery(db, 'operator-7'),
    'expired sessions': ofOperators.deleteExpiredOperatorSessionsQuery(db, 1),
  })))

describe('integrations', () =>
  plansOf('sessions of integrations', fillIntegrations, (db) => ({
    'session with its integration': ofIntegrations.integrationSessionQuery(db, hashOf(7)),
    'sessions of an integration': ofIntegrations.deleteIntegrationSessionsQuery(db, fixtures.address(7)),
    'expired sessions': ofIntegrations.deleteExpiredIntegrationSessionsQuery(db, 1),
  })))

function plansOf(rows: string, fill: Fill, queries: (db: Engine['read']) => Readonly<Record<string, Compiled>>): void {
  onFilledDatabases(fill, {
    SQLite: (engine) =>
      test(`finds ${rows} by an index, and walks no table`, async () => {
        for (const [name, query] of Object.entries(queries(engine().read))) {
          const steps = await sqliteSteps(engine(), query)
          expect(steps.length, name).toBeGreaterThan(0)
          for (const step of steps) expect(step, name).toMatch(/^SEARCH \w+ USING (COVERING )?INDEX/)
        }
      }),
    PostgreSQL: (engine) =>
      test(`finds ${rows} by an index, and touches only the rows of the answer`, async () => {
        await analyze(engine())
        for (const [name, query] of Object.entries(queries(engine().read))) {
          const scans = (await postgresScans(engine(), query)).filter(({ type }) => type !== 'ModifyTable')
          expect(scans.length, name).toBeGreaterThan(0)
          for (const { type, touched } of scans) {
            expect(type, name).toMatch(/^(Index (Only )?Scan|Bitmap Heap Scan)$/)
            expect(touched, name).toBeLessThanOrEqual(2 * sessions)
          }
        }
      }),
  })
}
