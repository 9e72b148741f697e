/** Builds the reads for the console. Source: the port ConsoleReads. @module */
import type { ConsoleReads } from '@payment-integration/core/ports'
import { auditRecord } from '../audit.js'
import type { Connection, Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { createDeliveryReads } from './delivery-reads.js'
import { createEndpointReads } from './endpoint-reads.js'
import { makeConsoleIndexes } from './indexes.js'
import { attemptsPerMinute, paymentsPerMinute } from './minute-counts.js'
import { readNewest } from './newest.js'
import { createPaymentReads } from './payment-reads.js'

/** All reads, on a connection that sees committed rows only. */
export function createConsoleReads(engine: Engine): ConsoleReads {
  const { read: db } = engine
  return {
    prepare: () => makeConsoleIndexes(engine),
    ...createPaymentReads(engine),
    ...createDeliveryReads(engine),
    ...createEndpointReads(engine),
    attemptsPerMinute: (query) => attemptsPerMinute(db, query),
    paymentsPerMinute: (query) => paymentsPerMinute(db, query),
    audit: async (query) => (await auditQuery(db, query).execute()).map(auditRecord),
    newest: (limit) => readNewest(db, limit),
  }
}

/** Records before a number, newest first. */
export function auditQuery(db: Connection, { beforeSeq, limit }: Parameters<ConsoleReads['audit']>[0]) {
  return db
    .selectFrom('audit')
    .selectAll()
    .where('seq', '<', checkInteger(beforeSeq ?? Number.MAX_SAFE_INTEGER, 'beforeSeq'))
    .orderBy('seq', 'desc')
    .limit(checkInteger(limit, 'limit', 1))
}
