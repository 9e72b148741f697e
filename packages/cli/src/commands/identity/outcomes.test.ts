import { readFile } from 'node:fs/promises'
import type { ShareOutcome } from '@payment-integration/core/ports'
import { expect, it } from 'vitest'

/** Every outcome that `identity shares` prints. */
const outcomes: Readonly<Record<ShareOutcome, true>> = {
  ...{ started: true, redeemed: true, found: true, reported: true, resolved: true, already_approved: true },
  ...{ in_flight: true, rejected: true, not_donated: true, concurrent: true, unknown: true, unresolved: true },
  ...{ absent: true, foreign: true, surplus: true, late: true, exhausted: true, misconfigured: true },
  ...{ throttled: true, unavailable: true },
}

it('the README explains every outcome that identity shares prints, once, and no other', async () => {
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8')
  const [, table = ''] = readme.split('| outcome of a share | meaning |\n')
  const rows = table.split('\n\n', 1)[0]?.split('\n') ?? []
  const names = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name))
  expect(names.sort()).toEqual(Object.keys(outcomes).sort())
})
