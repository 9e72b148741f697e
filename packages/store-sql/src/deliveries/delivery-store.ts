/** The delivery store. @module */
import type { DeliveryStore, Ids } from '@payment-integration/core/ports'
import type { Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { backlog, msUntilDue } from './backlog.js'
import { createClaim } from './claim.js'
import { findEndpoint, listEndpoints } from './endpoint-rows.js'
import { createEndFutureWaits } from './future-waits.js'
import { countDeliveries, findDelivery, listDeliveries, newestDelivery } from './list.js'
import { findMissing } from './missing.js'
import { createSettle } from './settle.js'
import { createCompleteUpTo, streamDeliveries } from './stream.js'

/** Builds the delivery store. `ids` makes the lease tokens. */
export function createDeliveryStore(engine: Engine, ids: Ids): DeliveryStore {
  return {
    claim: createClaim(engine, ids),
    settle: createSettle(engine),
    endFutureWaits: createEndFutureWaits(engine),
    msUntilDue: () => msUntilDue(engine),
    whenDue: (listener) => engine.whenDue(listener),
    backlog: async ({ atMost }) => backlog(engine, checkInteger(atMost, 'atMost', 1)),
    list: (query) => listDeliveries(engine, query),
    find: (deliveryId) => findDelivery(engine, deliveryId),
    newestId: (filter) => newestDelivery(engine, filter),
    count: async (filter, { atMost } = {}) =>
      countDeliveries(engine, filter, atMost === undefined ? undefined : checkInteger(atMost, 'atMost', 1)),
    findMissing: (query) => findMissing(engine, query),
    oldestSnapshot: async () => (await engine.oldestSnapshot?.()) ?? null,
    completeUpTo: createCompleteUpTo(engine),
    stream: (query) => streamDeliveries(engine, query),
    endpoints: async ({ limit } = {}) =>
      listEndpoints(engine.read, limit === undefined ? undefined : checkInteger(limit, 'limit', 1)),
    endpoint: (integrationAddress) => findEndpoint(engine.read, integrationAddress),
  }
}
