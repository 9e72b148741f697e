/** Joins the tables of the first release, in the order of their foreign keys. @module */
import type { Statements } from '../migration.js'
import { accountTables } from './accounts.js'
import { auditTable } from './audit.js'
import { chainTables } from './chains.js'
import { dataKeyTable } from './data-keys.js'
import { deliveryTables } from './deliveries.js'
import { identityTables } from './identity.js'
import { integrationSessionTable } from './integration-sessions.js'
import { integrationTable } from './integrations.js'
import { leaseTable } from './leases.js'
import { legacyKeyTable } from './legacy-keys.js'
import { operatorTables } from './operators.js'
import { paymentTables } from './payments.js'
import { updateTable } from './updates.js'

/** The schema of the first release. Once released, it never changes. */
export const baseline: Statements = (types, name) =>
  [
    paymentTables,
    integrationTable,
    deliveryTables,
    updateTable,
    chainTables,
    accountTables,
    legacyKeyTable,
    leaseTable,
    auditTable,
    identityTables,
    dataKeyTable,
    operatorTables,
    integrationSessionTable,
  ].flatMap((part) => part(types, name))
