/** Each statement of updates uses an index on both databases, whatever the number of waiting updates. */
import type { Store } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import * as fixtures from '../test/conformance/fixtures.js'
import { analyze, onFilledDatabases } from '../test/support/indexed-plans.js'
import { type Compiled, postgresScans, sqliteSteps } from '../test/support/plans.js'
import type { Engine } from './engine.js'
import { compile, compileBulk } from './internal/statements.js'
import { findText, hasWaitingQuery, keyColumns, settledColumns, settleText, waitingText } from './payments/updates.js'

const { decided, hash, indexed, update, waiting } = fixtures

async function fill(store: Store): Promise<void> {
  const payment = await indexed(store)
  const applied = Array.from({ length: 8_000 }, (_, n) => decided(payment, { update: update({ id: `a${n}` }) }))
  const others = Array.from({ length: 8_000 }, (_, n) => waiting({ id: `w${n}`, txHash: hash(n) }))
  await store.transaction(async (tx) => {
    await tx.insertUpdates(applied)
    await tx.insertUpdates(others)
  })
}

function queries({ read, dialect }: Engine): Readonly<Record<string, Compiled>> {
  const overRows = (columns: typeof keyColumns, rows: readonly (readonly unknown[])[], text: string) => ({
    compile: () => compileBulk(dialect, columns, rows, () => text),
  })
  return {
    'updates by id': { compile: () => compile(dialect, findText(dialect, ['a7', 'w7'])) },
    'a waiting update': hasWaitingQuery(read),
    'waiting updates': overRows(
      keyColumns,
      [1, 2].map((n) => [1, hash(n)]),
      waitingText(dialect),
    ),
    'settled updates': overRows(
      settledColumns,
      [1, 2].map((n) => [`w${n}`, 1, 'rejected', null, 1]),
      settleText(dialect),
    ),
  }
}

onFilledDatabases(fill, {
  SQLite: (engine) =>
    test('no statement walks the updates', async () => {
      for (const [name, query] of Object.entries(queries(engine()))) {
        const plan = await sqliteSteps(engine(), query)
        const own = plan.filter((step) => /^(SEARCH|SCAN) (u|updates)\b/.test(step))
        expect(own, `${name}: ${plan.join('; ')}`).toHaveLength(1)
        expect(own[0], name).toMatch(/ USING (COVERING )?INDEX /)
      }
    }),
  PostgreSQL: (engine) =>
    test('every statement touches the updates of its answer alone, with and without statistics', async () => {
      for (const statistics of [false, true]) {
        if (statistics) await analyze(engine())
        for (const plans of ['custom', 'generic'] as const)
          for (const [name, query] of Object.entries(queries(engine())))
            for (const { table, touched } of await postgresScans(engine(), query, plans))
              if (table === 'updates') expect(touched, `${name}, ${plans}, ${statistics}`).toBeLessThanOrEqual(2)
      }
    }),
})
