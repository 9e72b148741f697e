/** The tests of the Store port, which run on both databases. @module */
import { describe } from 'vitest'
import { accountTests } from './accounts.js'
import { auditTests } from './audit.js'
import { backlogTests } from './backlog.js'
import { checkpointTests } from './checkpoints.js'
import { claimTests } from './claims.js'
import { concurrencyTests } from './concurrency.js'
import { consoleDeliveryTests } from './console-deliveries.js'
import { consoleEndpointTests } from './console-endpoints.js'
import { consolePaymentTests } from './console-payments.js'
import { coverageTests } from './coverage.js'
import { dataKeyTests } from './data-keys.js'
import { deliveryListTests } from './delivery-lists.js'
import { depositTests } from './deposits.js'
import { droppingTests } from './dropping.js'
import { endpointHealthTests } from './endpoint-health.js'
import { fairnessTests } from './fairness.js'
import { historyTests } from './history.js'
import { identityTests } from './identity.js'
import { integrationSessionTests } from './integration-sessions.js'
import { integrationTests } from './integrations.js'
import { leaseTests } from './leases.js'
import { legacyKeyTests } from './legacy-keys.js'
import { operatorTests } from './operators.js'
import { pagingTests } from './paging.js'
import { paymentTests } from './payments.js'
import { proofTests } from './proofs.js'
import { replayTests } from './replays.js'
import { sealingKeyTests } from './sealing-keys.js'
import { settlingTests } from './settling.js'
import { streamTests } from './streams.js'
import { type OpenStore, storeTests } from './subject.js'
import { transactionReadTests } from './transaction-reads.js'
import { transactionTests } from './transactions.js'
import { updateTests } from './updates.js'
import { walkTests } from './walks.js'

/**
 * Registers the tests of operations with SQL of their own in each dialect: bulk writes, claims, settling and locks.
 * Every test gets an empty store.
 */
export function dialectConformance(adapter: string, open: OpenStore): void {
  const test = storeTests(open)
  describe(`${adapter}: transactions`, () => transactionTests(test))
  describe(`${adapter}: payments`, () => paymentTests(test))
  describe(`${adapter}: claims`, () => claimTests(test))
  describe(`${adapter}: fairness`, () => fairnessTests(test))
  describe(`${adapter}: settling`, () => settlingTests(test))
  describe(`${adapter}: concurrency`, () => concurrencyTests(test))
}

/** Registers all other tests. */
export function storeConformance(adapter: string, open: OpenStore): void {
  const test = storeTests(open)
  describe(`${adapter}: pages`, () => pagingTests(test))
  describe(`${adapter}: walks`, () => walkTests(test))
  describe(`${adapter}: transactions of a chain`, () => transactionReadTests(test))
  describe(`${adapter}: checkpoints`, () => checkpointTests(test))
  describe(`${adapter}: payments off the chain`, () => droppingTests(test))
  describe(`${adapter}: proofs`, () => proofTests(test))
  describe(`${adapter}: coverage`, () => coverageTests(test))
  describe(`${adapter}: deposits`, () => depositTests(test))
  describe(`${adapter}: leases`, () => leaseTests(test))
  describe(`${adapter}: updates`, () => updateTests(test))
  describe(`${adapter}: integrations`, () => integrationTests(test))
  describe(`${adapter}: accounts`, () => accountTests(test))
  describe(`${adapter}: legacy keys`, () => legacyKeyTests(test))
  describe(`${adapter}: operators`, () => operatorTests(test))
  describe(`${adapter}: sessions of integrations`, () => integrationSessionTests(test))
  describe(`${adapter}: sealing keys`, () => sealingKeyTests(test))
  describe(`${adapter}: audit log`, () => auditTests(test))
  describe(`${adapter}: endpoints`, () => endpointHealthTests(test))
  describe(`${adapter}: replays`, () => replayTests(test))
  describe(`${adapter}: lists of deliveries`, () => deliveryListTests(test))
  describe(`${adapter}: streams`, () => streamTests(test))
  describe(`${adapter}: backlog`, () => backlogTests(test))
  describe(`${adapter}: data keys`, () => dataKeyTests(test))
  describe(`${adapter}: payments of the console`, () => consolePaymentTests(test))
  describe(`${adapter}: deliveries of the console`, () => consoleDeliveryTests(test))
  describe(`${adapter}: endpoints of the console`, () => consoleEndpointTests(test))
  identityTests(adapter, test)
}

/** Registers the tests of archived history. */
export function historyConformance(adapter: string, open: OpenStore): void {
  describe(`${adapter}: history`, () => historyTests(storeTests(open)))
}
