import { describe, expect, test } from 'vitest'
import { dayMs, keep, setUpHistory } from '../../test/support/history-setup.js'

describe('of several audit chains', () => {
  /** Two old records in each of three chains, and a newer one. */
  async function threeChains() {
    const made = setUpHistory(3)
    for (const subject of ['a', 'b']) for (const chain of [0, 1, 2]) await made.record(subject, chain)
    await made.clock.advance(2 * dayMs)
    for (const chain of [0, 1, 2]) await made.record('c', chain)
    return made
  }

  test('each leaves with a file and a record of its own, and verifies', async () => {
    const { run, verify, store, archive, commands } = await threeChains()
    const policy = { ...keep, audit: dayMs }
    const { ended } = await commands.plan(policy)
    expect(ended.map(({ part, rows }) => [part, rows])).toEqual([
      [3, 2],
      [1, 2],
      [2, 2],
    ])
    await run(policy)
    expect([...archive.files.keys()]).toEqual(['audit-3', 'audit-1', 'audit-2'])
    for (const [chain, numbers] of [
      [0, [9, 12]],
      [1, [7, 10]],
      [2, [8, 11]],
    ] as const) {
      const records = await store.audit.list({ chain, limit: 9 })
      expect(records.map(({ seq }) => seq)).toEqual(numbers)
      const details = { file: `audit-${chain || 3}`, upTo: (numbers[0] ?? 0) - 3 }
      expect(records[1]).toMatchObject({ action: 'history.archived', details })
    }
    expect(await verify()).toMatchObject({ records: 6, brokenAt: [] })
  })

  test('each is restored from its own file', async () => {
    const { run, verify, store, archive, commands } = await threeChains()
    const before = await store.audit.list({ limit: 99 })
    await run({ ...keep, audit: dayMs })
    for (const [file, chain] of [
      ['audit-2', 2],
      ['audit-3', 0],
      ['audit-1', 1],
    ] as const) {
      await commands.restore(archive, file)
      expect(await store.audit.newest(chain)).toMatchObject({ action: 'history.restored' })
    }
    expect((await store.audit.list({ limit: 99 })).slice(0, 9)).toEqual(before)
    expect(await verify()).toMatchObject({ records: 15, brokenAt: [] })
  })

  test('a broken one stays, and the others leave', async () => {
    const { run, verify, store, archive, progress } = await threeChains()
    store.seed((state) => {
      state.audit = state.audit.filter(({ seq }) => seq !== 1)
    })
    await run({ ...keep, audit: dayMs })
    expect([...archive.files.keys()]).toEqual(['audit-3', 'audit-2'])
    expect(progress).toContainEqual({ event: 'audit_broken', brokenAt: 1 })
    expect((await verify()).brokenAt).toEqual([1])
  })
})
