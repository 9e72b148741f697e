/** Each read of the console without filters uses an index on both databases, and touches no more rows than it may. */
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { fillConsoleRows, rows, shops } from '../../test/support/console-rows.js'
import { analyze, onFilledDatabases } from '../../test/support/indexed-plans.js'
import { type Compiled, postgresScans, sqliteSteps } from '../../test/support/plans.js'
import { firstIdQuery } from '../deliveries/delivery-lists.js'
import type { Engine } from '../engine.js'
import * as ofConsole from './console-reads.js'
import { attemptsQuery, selectViewRows, transactionQuery } from './delivery-reads.js'
import { walletQuery } from './payment-keys.js'
import * as ofPayments from './payment-reads.js'

const { epoch, hash } = fixtures
const limit = 50

const newestIds = Array.from({ length: limit }, (_, n) => rows - 2 * n)
const queries = (engine: Engine, { read } = engine): Readonly<Record<string, Compiled>> => ({
  'payments by hash': ofPayments.searchQuery(read, { kind: 'hash', txHash: hash(77) }, limit),
  'payments by memo': ofPayments.searchQuery(read, { kind: 'memo', prefix: hash(77) }, limit),
  'integrations of a wallet': walletQuery(read, shops[0] ?? '', limit),
  'updates of a payment': ofPayments.updatesQuery(read, '77', limit),
  'payments of a transaction': transactionQuery(read, hash(77)),
  'deliveries of payments': selectViewRows(read).where('d.payment_id', 'in', [77, 78]),
  'deliveries by id': selectViewRows(read).where('d.id', 'in', [77, 78]).orderBy('d.id', 'desc'),
  'first delivery of a time': firstIdQuery(read, epoch + 5_000),
  'deliveries of an endpoint': ofConsole.sentIdsQuery(engine.read, shops[0] ?? '', rows - 7),
  'next delivery to an endpoint': ofConsole.unsentQuery(read, shops[0] ?? ''),
  'retries of an endpoint': ofConsole.retriedIdsQuery(read, shops[0] ?? ''),
  'failures of an endpoint': ofConsole.failureQuery(read, newestIds),
  'latencies of an endpoint': ofConsole.latencyQuery(read, newestIds),
  'integrations after an address': ofConsole.integrationQuery(read, fixtures.address(0x500), limit),
  'newest attempts': attemptsQuery(read, 0, limit),
  'attempts by minute': ofPayments.attemptCountsQuery(read, { since: 0, limit }),
  'payments by minute': ofPayments.paymentCountsQuery(read, { since: epoch, limit }),
  'invoices by minute': ofPayments.invoicesQuery(read, { since: epoch, limit }),
  'audit log': ofConsole.auditQuery(read, { beforeSeq: 10, limit }),
  'newest payments': ofPayments.newestPaymentsQuery(read, limit),
  'newest deliveries': ofPayments.newestDeliveriesQuery(read, limit),
  'newest updates': ofPayments.newestUpdatesQuery(read, limit),
})

onFilledDatabases(fillConsoleRows, {
  SQLite: (engine) =>
    test('reads every table by an index, in its order', async () => {
      for (const [name, query] of Object.entries(queries(engine()))) {
        const plan = await sqliteSteps(engine(), query)
        // A scan by an index, or by the order of the table, ends at the limit; the others are of subqueries.
        const scans = plan.filter((step) => /^SCAN (payments|snapshots|d|p|a|attempts|updates)$/.test(step))
        const isInTableOrder = name.startsWith('newest ')
        expect(isInTableOrder ? [] : scans, `${name}: ${plan.join('; ')}`).toEqual([])
        const sorts = plan.filter((step) => step === 'USE TEMP B-TREE FOR ORDER BY')
        expect(sorts, `${name}: ${plan.join('; ')}`).toEqual([])
      }
    }),
  PostgreSQL: (engine) =>
    test('touches no more rows of a table than the limit', async () => {
      await analyze(engine())
      for (const [name, query] of Object.entries(queries(engine())))
        for (const { table, touched } of await postgresScans(engine(), query))
          expect(touched, `${name}: ${table}`).toBeLessThanOrEqual(2 * limit)
    }),
})
