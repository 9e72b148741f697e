/** docs/databases.md: a standby is promoted under load, and nothing confirmed is lost or doubled. */
import { describe, expect, it } from 'vitest'
import { pgbouncerMissing } from '../../store-sql/test/pgbouncer.js'
import { postgresMissing } from '../../store-sql/test/postgres.js'
import { runFailovers } from './support/failovers.js'

/** Promotions, the second of a standby that began beside the first; and successes of each kind before each. */
const [rounds, between] = [2, 20]
const safe = { lost: 0, doubled: 0, gaps: 0, differing: 0, undelivered: 0 }

describe.each([
  ['at an address that moves', 'switch', postgresMissing],
  ['behind PgBouncer, which is reloaded', 'pgbouncer', postgresMissing ?? pgbouncerMissing],
] as const)('a standby that is promoted under load, %s', (_, through, missing) => {
  it.skipIf(missing !== null)(
    `loses nothing that was confirmed, doubles nothing, and the process goes on${missing === null ? '' : ` (skipped: ${missing})`}`,
    async () => {
      const report = await runFailovers({ rounds, through, between })
      expect(report).toMatchObject(safe)
      expect(report.backMs).toHaveLength(rounds)
      expect(report.confirmedPayments).toBeGreaterThan(rounds * between)
    },
  )
})
