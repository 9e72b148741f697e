/** Measures processor updates: their rate, and the processor time of the service and of the database. @module */
import type { Service } from '@payment-integration/core'
import { cpuMs, type Engine, openDatabase, serviceOn } from './databases.js'
import { createIntegrations, rounds, shuffle, storePayments, updateAt } from './payments.js'
import { type Cell, median, round, type Table } from './report.js'

export interface UpdatesEffort {
  /** Payments of a turn, each with two updates. */
  readonly payments: number
  readonly turns: number
}

/** Requests of one update each that are in flight. */
const inFlight = 64
/** Updates of one request, and payments of one transaction. */
const batch = 100

/** Applies the updates of these payments. `at`: the round of updates. */
type Way = (payments: readonly number[], at: number) => Promise<void>

interface Figures {
  readonly perSecond: number
  /** Processor time of this process and of the server for one update, in microseconds. */
  readonly own: number
  readonly server: number
}

/** Measures PostgreSQL without and with the indexes of the console, one of which has the state, and SQLite. */
export async function benchUpdates(effort: UpdatesEffort): Promise<Table[]> {
  const rows = [
    ...(await benchEngine('PostgreSQL', effort)),
    ...(await benchEngine('PostgreSQL', effort, true)),
    ...(await benchEngine('SQLite', effort)),
  ]
  const { payments, turns } = effort
  return [
    {
      title: 'Processor updates',
      columns: ['', 'updates/s', 'CPU of the service, µs', 'CPU of the database, µs'],
      rows,
      notes: [`${turns} turns of ${payments.toLocaleString('en')} payments with ${rounds} updates each.`],
    },
  ]
}

async function benchEngine(engine: Engine, effort: UpdatesEffort, hasConsole = false): Promise<Cell[][]> {
  const database = await openDatabase(engine)
  const store = database.openStore()
  try {
    await store.migrate()
    if (hasConsole) await store.console.prepare()
    const service = serviceOn(store)
    await createIntegrations(service)
    const ways: Readonly<Record<string, Way>> = {
      [`one at a time, ${inFlight} requests at once`]: singly(service),
      [`${batch} in a request`]: async (payments, at) => {
        for (let done = 0; done < payments.length; done += batch)
          await service.applyUpdates(payments.slice(done, done + batch).map((n) => updateAt(n, at)))
      },
    }
    const indexing = `indexing payments, ${batch} in a transaction`
    const figures = new Map<string, Figures[]>([indexing, ...Object.keys(ways)].map((name) => [name, []]))
    let from = 0
    // The first turn only warms up.
    for (let turn = 0; turn <= effort.turns; turn += 1)
      for (const [name, apply] of Object.entries(ways)) {
        const [first, count] = [from, effort.payments]
        from += count
        const indexed = await measure(database.serverData, count, async () => {
          for (let n = first; n < from; n += batch) await storePayments(store, { from: n, count: batch })
        })
        // A processor confirms each payment after its own time, not in the order of blocks.
        const order = shuffle(
          Array.from({ length: count }, (_, n) => first + n),
          `order ${first}`,
        )
        const updated = await measure(database.serverData, count * rounds, async () => {
          for (let at = 0; at < rounds; at += 1) await apply(order, at)
        })
        if (turn === 0 && effort.turns > 0) continue
        figures.get(indexing)?.push(indexed)
        figures.get(name)?.push(updated)
      }
    const of = (all: readonly Figures[], field: keyof Figures) => round(median(all.map((each) => each[field])))
    return [...figures].map(([name, all]) => [
      `${engine}, ${name}${hasConsole ? ', with the indexes of the console' : ''}`,
      of(all, 'perSecond'),
      of(all, 'own'),
      engine === 'SQLite' ? null : of(all, 'server'),
    ])
  } finally {
    await store.close()
    await database.end()
  }
}

function singly({ applyUpdate }: Pick<Service, 'applyUpdate'>): Way {
  return async (payments, at) => {
    const next = payments.values()
    const work = async () => {
      for (const n of next) await applyUpdate(updateAt(n, at))
    }
    await Promise.all(Array.from({ length: inFlight }, work))
  }
}

async function measure(serverData: string | null, count: number, work: () => Promise<void>): Promise<Figures> {
  const [startedAt, processCpu, allCpu] = [performance.now(), cpuMs(null), cpuMs(serverData)]
  await work()
  const [ms, ownMs, allMs] = [performance.now() - startedAt, cpuMs(null) - processCpu, cpuMs(serverData) - allCpu]
  return { perSecond: (count * 1_000) / ms, own: (ownMs * 1_000) / count, server: ((allMs - ownMs) * 1_000) / count }
}
