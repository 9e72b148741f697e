/** Measures processor updates: their rate, and the processor time of the service and of the database. @module */
import type { Service } from '@payment-integration/core'
import { createServiceOn, type Engine, openDatabase, readCpuMs } from './databases.js'
import { createIntegrations, shuffle, storePayments, updateAt, updatesPerPayment } from './payments.js'
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

/** Applies the n-th update of each payment, from 0. */
type Way = (payments: readonly number[], nth: number) => Promise<void>

interface Figures {
  readonly perSecond: number
  /** Processor time of this process and of the database server for one update. */
  readonly serviceCpuUs: number
  readonly databaseCpuUs: number
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
      notes: [`${turns} turns of ${payments.toLocaleString('en')} payments with ${updatesPerPayment} updates each.`],
    },
  ]
}

async function benchEngine(engine: Engine, effort: UpdatesEffort, hasConsole = false): Promise<Cell[][]> {
  const database = await openDatabase(engine)
  const store = database.openStore()
  try {
    await store.migrate()
    if (hasConsole) await store.console.prepare()
    const service = createServiceOn(store)
    await createIntegrations(service)
    const ways: Readonly<Record<string, Way>> = {
      [`one at a time, ${inFlight} requests at once`]: applyOneByOne(service),
      [`${batch} in a request`]: async (payments, nth) => {
        for (let done = 0; done < payments.length; done += batch)
          await service.applyUpdates(payments.slice(done, done + batch).map((n) => updateAt(n, nth)))
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
        const updated = await measure(database.serverData, count * updatesPerPayment, async () => {
          for (let nth = 0; nth < updatesPerPayment; nth += 1) await apply(order, nth)
        })
        if (turn === 0 && effort.turns > 0) continue
        figures.get(indexing)?.push(indexed)
        figures.get(name)?.push(updated)
      }
    const getMedian = (all: readonly Figures[], field: keyof Figures) => round(median(all.map((each) => each[field])))
    return [...figures].map(([name, all]) => [
      `${engine}, ${name}${hasConsole ? ', with the indexes of the console' : ''}`,
      getMedian(all, 'perSecond'),
      getMedian(all, 'serviceCpuUs'),
      engine === 'SQLite' ? null : getMedian(all, 'databaseCpuUs'),
    ])
  } finally {
    await store.close()
    await database.end()
  }
}

function applyOneByOne({ applyUpdate }: Pick<Service, 'applyUpdate'>): Way {
  return async (payments, nth) => {
    const next = payments.values()
    const work = async () => {
      for (const n of next) await applyUpdate(updateAt(n, nth))
    }
    await Promise.all(Array.from({ length: inFlight }, work))
  }
}

async function measure(serverData: string | null, count: number, work: () => Promise<void>): Promise<Figures> {
  const [startedAt, processCpu, allCpu] = [performance.now(), readCpuMs(null), readCpuMs(serverData)]
  await work()
  const [ms, serviceMs] = [performance.now() - startedAt, readCpuMs(null) - processCpu]
  const databaseMs = readCpuMs(serverData) - allCpu - serviceMs
  const getCpuUs = (cpuMs: number) => (cpuMs * 1_000) / count
  return { perSecond: (count * 1_000) / ms, serviceCpuUs: getCpuUs(serviceMs), databaseCpuUs: getCpuUs(databaseMs) }
}
