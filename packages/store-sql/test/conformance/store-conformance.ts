/** The tests of the Store port, which run on both databases. @module */
import { describe } from 'vitest'
import { accountTests } from './accounts.js'
import { auditTests } from './audit.js'
import { checkpointTests } from './checkpoints.js'
import { claimTests } from './claims.js'
import { concurrencyTests } from './concurrency.js'
import { consoleDeliveryTests } from './console-deliveries.js'
import { consolePaymentTests } from './console-payments.js'
import { deliveryListTests } from './delivery-lists.js'
import { depositTests } from './deposits.js'
import { droppingTests } from './dropping.js'
import { endpointHealthTests } from './endpoint-health.js'
import { fairnessTests } from './fairness.js'
import { historyTests } from './history.js'
import { identityAccountTests } from './identity-accounts.js'
import { identityLogTests } from './identity-logs.js'
import { identityPersonTests } from './identity-persons.js'
import { identityRedemptionTests } from './identity-redemptions.js'
import { identitySubjectTests } from './identity-subjects.js'
import { identityVerificationTests } from './identity-verifications.js'
import { integrationTests } from './integrations.js'
import { leaseTests } from './leases.js'
import { legacyKeyTests } from './legacy-keys.js'
import { operatorTests } from './operators.js'
import { pagingTests, walkTests } from './paging.js'
import { paymentTests } from './payments.js'
import { proofTests } from './proofs.js'
import { replayTests } from './replays.js'
import { sealingKeyTests } from './sealing-keys.js'
import { integrationSessionTests } from './sessions.js'
import { settlingTests } from './settling.js'
import { streamTests } from './streams.js'
import { type OpenStore, type StoreTest, storeTests } from './subject.js'
import { transactionReadTests } from './transaction-reads.js'
import { transactionTests } from './transactions.js'
import { updateTests } from './updates.js'

/** Tests, by what they are about. */
type Suite = Readonly<Record<string, (test: StoreTest) => void>>

const register = (suite: Suite) => (adapter: string, open: OpenStore) => {
  for (const [name, tests] of Object.entries(suite)) describe(`${adapter}: ${name}`, () => tests(storeTests(open)))
}

/**
 * Registers the tests of operations with SQL of their own in each dialect: bulk writes, claims, settling and locks.
 * Every test gets an empty store.
 */
export const dialectConformance = register({
  ...{ transactions: transactionTests, payments: paymentTests, claims: claimTests, fairness: fairnessTests },
  ...{ settling: settlingTests, concurrency: concurrencyTests },
})

/** Registers all other tests. */
export const storeConformance = register({
  ...{ pages: pagingTests, walks: walkTests, 'transactions of a chain': transactionReadTests },
  ...{ checkpoints: checkpointTests, 'payments off the chain': droppingTests, proofs: proofTests },
  ...{ deposits: depositTests, leases: leaseTests, updates: updateTests, integrations: integrationTests },
  ...{ accounts: accountTests, 'legacy keys': legacyKeyTests, operators: operatorTests },
  ...{ 'sessions of integrations': integrationSessionTests, 'sealing keys': sealingKeyTests, 'audit log': auditTests },
  ...{ endpoints: endpointHealthTests, replays: replayTests, 'lists of deliveries': deliveryListTests },
  ...{ streams: streamTests, 'payments of the console': consolePaymentTests },
  'deliveries of the console': consoleDeliveryTests,
  ...{ subjects: identitySubjectTests, persons: identityPersonTests, verifications: identityVerificationTests },
  ...{ redemptions: identityRedemptionTests, 'logs of identity': identityLogTests },
  'accounts by e-mail address': identityAccountTests,
})

/** Registers the tests of archived history. */
export const historyConformance = register({ history: historyTests })
