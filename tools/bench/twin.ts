/** Times a twin: until it is ready, and with a scenario to its end. @module */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { createTwin } from '@payment-integration/testing/twin'
import { type Effort, type Measured, sideBySide } from './measure.js'

/** Makes twins, and compares them with an empty database alone: what any twin on it must at least cost. */
export async function benchTwin(effort: Effort): Promise<Measured[]> {
  return sideBySide(
    [
      { name: 'an empty migrated SQLite database, the floor', run: emptyDatabase },
      { name: 'a twin, ready and closed', run: async () => (await createTwin()).close() },
      { name: 'a twin with an integration and a refund: five deliveries', run: refund },
      { name: 'a twin whose receiver fails for three days', run: threeDays },
    ],
    effort,
  )
}

async function emptyDatabase(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'payment-bench-'))
  const store = createSqliteStore({ path: join(folder, 'empty.db'), synced: false })
  await store.migrate()
  await store.close()
  rmSync(folder, { recursive: true })
}

async function refund(): Promise<void> {
  const twin = await createTwin()
  const shop = await twin.addIntegration(() => new Response(null, { status: 204 }))
  await twin.trigger({ scenario: 'refund' }, shop)
  await twin.close()
}

async function threeDays(): Promise<void> {
  const twin = await createTwin()
  const { address } = await twin.addIntegration(() => new Response(null, { status: 503 }))
  await twin.pay({ integrationAddress: address })
  await twin.advance(3 * 86_400_000)
  await twin.close()
}
