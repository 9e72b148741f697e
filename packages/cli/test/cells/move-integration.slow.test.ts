import { statSync } from 'node:fs'
import { type Payment, reconcile } from '@payment-integration/client'
import type { Store } from '@payment-integration/core/ports'
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { describe, expect, test } from 'vitest'
import { postgresMissing } from '../../../store-sql/test/postgres.js'
import { makeTxHash } from '../../../store-sql/test/support/scripted-chain.js'
import { openGzipFile } from '../../src/archive.js'
import type { Database } from './cell.js'
import { key, shop, twoCells } from './two-cells.js'

/** A store whose transactions fail after some of them, as after a kill of the process. */
function failingAfter(store: Store, count: number): Store {
  let remaining = count
  const limited = <T>(run: () => Promise<T>): Promise<T> => {
    remaining -= 1
    return remaining < 0 ? Promise.reject(new Error('killed')) : run()
  }
  const { moves } = store
  if (moves === null) throw new Error('no moves')
  return {
    ...store,
    transaction: (work, options) => limited(() => store.transaction(work, options)),
    moves: { ...moves, transaction: (work) => limited(() => moves.transaction(work)) },
  }
}

/** The part of a delivery that a receiver's store needs. */
type Snapshot = Pick<Payment, 'integrationAddress' | 'chainId' | 'txHash' | 'version' | 'state'>

const range = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}${n}`)
const pairs: [Database, Database][] = [
  ['SQLite', 'SQLite'],
  ['PostgreSQL', 'PostgreSQL'],
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
]

describe.each(pairs)('from %s to %s', (from, to) => {
  const needsPostgres = [from, to].includes('PostgreSQL')
  const move = test.skipIf(needsPostgres && postgresMissing !== null)

  move('no delivery is lost or repeated, though the import is killed after each of its transactions', async () => {
    const { source, target, ...cells } = await twoCells(from, to)
    const { service } = source
    const many = range(230, 'many')
    await cells.pay('early')
    const recipient = { title: 'Café', subtitle: null }
    await service.applyUpdate(cells.update('u1', 'early', { state: 'pending', recipient }))
    await source.deliver()
    cells.rejected.add(makeTxHash('retried'))
    await cells.pay('retried', ...many)
    await source.deliver()
    await cells.pay('pending')
    await service.applyUpdate(cells.update('u2', 'pending', { state: 'success' }))
    await service.applyUpdate(cells.update('u3', 'late', { state: 'success' }))
    const scheduled = (await source.store.deliveries.list({ status: 'pending', limit: 10 })).map(schedule)

    const first = await cells.export()
    const again = await cells.export()
    expect(again.hmac).toBe(first.hmac)
    expect(first).toMatchObject({ payments: 233, deliveries: 3, updates: 2, waiting: 1 })
    expect(statSync(first.path).mode & 0o777).toBe(0o600)
    await cells.pay('between')

    let runs = 0
    for (let isDone = false; !isDone; runs += 1) {
      const killed = target.serviceOn(failingAfter(target.store, runs))
      isDone = await killed.moves.import(openGzipFile(first.path)).then(
        () => true,
        (error: Error) => {
          if (error.message !== 'killed') throw error
          return false
        },
      )
      if (runs === 2) await cells.pay('during')
    }
    expect(runs).toBeGreaterThan(5)
    const moved = await target.store.deliveries.list({ status: 'pending', limit: 10 })
    const later = [makeTxHash('between'), makeTxHash('during')]
    expect(moved.filter(({ txHash }) => !later.includes(txHash)).map(schedule)).toEqual(scheduled)

    await target.deliver()
    await cells.pay('late')
    await target.service.applyUpdate(cells.update('u4', 'early', { state: 'success' }))
    cells.rejected.clear()
    cells.pass(24 * 3_600_000)
    await target.deliver()
    expect(await source.deliver()).toBe(0)

    const names = ['early', 'retried', 'pending', 'between', 'during', 'late', ...many]
    const versions: Record<string, number> = { early: 3, pending: 2, late: 2 }
    const wanted = names.flatMap((name) => range(versions[name] ?? 1, '').map((n) => key(Number(n) + 1, name)))
    expect(cells.keys(names)).toEqual(wanted.sort())
    // Repeating an update is answered as by the former cell.
    const repeated = await target.service.applyUpdate(cells.update('u2', 'pending', { state: 'success' }))
    expect(repeated).toMatchObject({ outcome: 'applied', version: 2 })

    const store = createMemoryVersionStore()
    const handle = async () => undefined
    const verify = async (snapshot: Snapshot) => ({ snapshot })
    const { accept } = createReceiver({ verify, store, handle })
    for (const body of cells.accepted) await accept(JSON.parse(body) as Snapshot)
    const client = target.client(shop, cells.apiSecret)
    const report = await reconcile(client, { from: store, until: 'end', handle })
    expect(report).toMatchObject({ compared: names.length, repaired: 0, missing: { count: 0 }, stale: { count: 0 } })
    for (const { service: each } of [source, target])
      expect(await each.audit.verify()).toMatchObject({ brokenAt: null })
    const records = await target.store.audit.list({ limit: 100 })
    expect(records.map(({ action }) => action)).toEqual(['integration.imported'])
    expect(records[0]?.details).toMatchObject({ hmac: first.hmac })
  })
})

/** What a delivery has in each cell. */
function schedule(view: Awaited<ReturnType<Store['deliveries']['list']>>[number]) {
  const { txHash, version, attempts, nextAttemptAt } = view
  return { txHash, version, attempts, nextAttemptAt }
}
