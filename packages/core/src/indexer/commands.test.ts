/** The operator's reindex: each repair has its record in the audit log. */
import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import { indexed } from '../../test/support/reindex-setup.js'
import { createAudited } from '../history/audit-log.js'
import { parseMasterKey } from '../secrets/keys.js'
import { createChainCommands } from './reindex.js'

const keys = parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90')

async function setup() {
  const { store, chain, stored } = await indexed(10, (facts) => [{ ...facts, memoHex: `0x${'ee'.repeat(32)}` }])
  const clock = manualClock()
  const audited = createAudited({ transaction: store.transaction, keys, clock, actor: 'operator:olga' })
  const { reindex } = createChainCommands({ store, chains: [chain], audited, clock, publish: () => undefined })
  const audit = () =>
    store.committed.audit.map(({ actor, action, subject, details }) => [actor, action, subject, details])
  return { reindex, audit, stored, chain }
}

async function run(reports: AsyncIterable<{ readonly differences: readonly unknown[] }>): Promise<number> {
  let differences = 0
  for await (const report of reports) differences += report.differences.length
  return differences
}

test('a dry run finds the differences, changes nothing and leaves no record', async () => {
  const { reindex, audit, stored } = await setup()
  expect(await run(reindex({ chainId: 1, from: 3, to: 5, repair: false }))).toBe(3)
  expect(stored(4)?.memoHex).toBe(`0x${'ee'.repeat(32)}`)
  expect(audit()).toEqual([])
})

test('a repair is recorded once with the blocks that it reads, in the name of its actor', async () => {
  const { reindex, audit, stored } = await setup()
  expect(await run(reindex({ chainId: 1, from: 3, repair: true }))).toBe(8)
  expect(stored(4)?.memoHex).not.toBe(`0x${'ee'.repeat(32)}`)
  expect(audit()).toEqual([['operator:olga', 'chain.repair_started', '1', { from: 3, to: 10 }]])
})

test('a repair through another chain object is recorded too; one of another chain is rejected', async () => {
  const { reindex, audit, chain } = await setup()
  const through = { ...chain, adapter: 'another node' }
  expect(await run(reindex({ chainId: 1, from: 3, repair: true, through }))).toBe(8)
  expect(audit()).toEqual([['operator:olga', 'chain.repair_started', '1', { from: 3, to: 10 }]])
  const wrong = run(reindex({ chainId: 7, from: 3, repair: true, through }))
  await expect(wrong).rejects.toThrow('Chain 7 is not followed by this process.')
})

test('blocks that are not indexed and a chain that is not followed are rejected without a record', async () => {
  const { reindex, audit } = await setup()
  await expect(run(reindex({ chainId: 1, from: 3, to: 99, repair: true }))).rejects.toThrow('not indexed yet')
  const unknown = run(reindex({ chainId: 7, from: 0, repair: true }))
  await expect(unknown).rejects.toThrow('Chain 7 is not followed by this process.')
  expect(audit()).toEqual([])
})
