/** Builds the reads for the console. Source: the port ConsoleReads. @module */
import type { ConsoleReads } from '@payment-integration/core/ports'
import { sql } from 'kysely'
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

/** Records before a position, newest first by their time. */
export function auditQuery(db: Connection, { before, limit }: Parameters<ConsoleReads['audit']>[0]) {
  const at = checkInteger(before?.at ?? Number.MAX_SAFE_INTEGER, 'before.at')
  const seq = checkInteger(before?.seq ?? Number.MAX_SAFE_INTEGER, 'before.seq')
  return db
    .selectFrom('audit')
    .selectAll()
    .where(sql<boolean>`(at, seq) < (${at}, ${seq})`)
    .orderBy('at', 'desc')
    .orderBy('seq', 'desc')
    .limit(checkInteger(limit, 'limit', 1))
}
