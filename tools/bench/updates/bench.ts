/** Measures processor updates: their rate, processor time, index writes and bytes. @module */
import { loadavg } from 'node:os'
import type { Service } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { cpuMs } from '../console/cpu.js'
import type { Engine } from '../console/database.js'
import { median } from '../measure.js'
import { openFloor } from './floor.js'
import { openEmpty, serviceOn } from './open.js'
import { integrations, rounds, shuffled, storePayments, updateAt } from './payments.js'
import { type ServerFigures, serverFigures } from './server-figures.js'

/** How much to measure. */
export interface UpdatesEffort {
  /** Payments of a turn, each with two updates. */
  readonly payments: number
  readonly turns: number
}

/** Requests of one update each that are in flight. */
const inFlight = 64
/** Updates of one request, and of one transaction of the floor. */
const batch = 100

/** A way to apply the updates of some payments and a round. */
type Way = (payments: readonly number[], round: number) => Promise<void>

interface Figures {
  readonly perSecond: number
  /** Processor time of this process and of the server for one update, in microseconds. */
  readonly own: number
  readonly server: number
}

/** Measures both engines and returns Markdown. */
export async function benchUpdates(effort: UpdatesEffort): Promise<string> {
  const plain = await benchEngine('PostgreSQL', effort)
  const prepared = await benchEngine('PostgreSQL', effort, true)
  return [plain, prepared, await benchEngine('SQLite', effort)].join('\n')
}

/** @param hasConsole - Whether it has the indexes of the console, one of which has the state. */
async function benchEngine(engine: Engine, effort: UpdatesEffort, hasConsole = false): Promise<string> {
  const opened = await openEmpty(engine)
  const { store, folder } = opened
  try {
    if (hasConsole) await store.console.prepare()
    const service = serviceOn(store)
    for (const [n, address] of integrations.entries())
      await service.integrations.create({ address, notificationUrl: `http://127.0.0.1:9/${n}` })
    const floor = opened.url === null ? null : await openFloor(opened.url, batch)
    const ways: Readonly<Record<string, Way>> = {
      [`one at a time, ${inFlight} requests at once`]: singly(service),
      [`${batch} in a request`]: async (payments, round) => {
        for (let done = 0; done < payments.length; done += batch)
          await service.applyUpdates(payments.slice(done, done + batch).map((n) => updateAt(n, round)))
      },
      ...(floor === null ? {} : { [`floor: the statements alone, ${batch} in a transaction`]: floor.apply }),
    }
    const before = opened.url === null ? null : await serverFigures(opened.url)
    const taken = await takeTurns(store, ways, effort, folder)
    await floor?.close()
    const after = opened.url === null ? null : await serverFigures(opened.url)
    const title = hasConsole ? `${engine} with the indexes of the console` : engine
    return report(title, effort, taken, before, after)
  } finally {
    await opened.remove()
  }
}

function singly({ applyUpdate }: Pick<Service, 'applyUpdate'>): Way {
  return async (payments, round) => {
    const next = payments.values()
    const work = async () => {
      for (const n of next) await applyUpdate(updateAt(n, round))
    }
    await Promise.all(Array.from({ length: inFlight }, work))
  }
}

async function takeTurns(
  store: Store,
  ways: Readonly<Record<string, Way>>,
  { payments, turns }: UpdatesEffort,
  folder: string | null,
): Promise<ReadonlyMap<string, readonly Figures[]>> {
  const taken = new Map<string, Figures[]>(Object.keys(ways).map((name) => [name, []]))
  let from = 0
  // The first turn only warms up.
  for (let turn = 0; turn <= turns; turn += 1)
    for (const [name, apply] of Object.entries(ways)) {
      for (let done = 0; done < payments; done += batch) await storePayments(store, from + done, batch)
      const order = shuffled(from, payments)
      const [begun, own, all] = [performance.now(), cpuMs(null) ?? 0, cpuMs(folder) ?? Number.NaN]
      for (let round = 0; round < rounds; round += 1) await apply(order, round)
      const updates = payments * rounds
      const ownMs = (cpuMs(null) ?? 0) - own
      const allMs = (cpuMs(folder) ?? Number.NaN) - all
      const figures = {
        perSecond: (updates * 1_000) / (performance.now() - begun),
        own: (ownMs * 1_000) / updates,
        server: ((allMs - ownMs) * 1_000) / updates,
      }
      if (turn > 0 || turns === 0) taken.get(name)?.push(figures)
      from += payments
    }
  return taken
}

function report(
  title: string,
  { payments, turns }: UpdatesEffort,
  taken: ReadonlyMap<string, readonly Figures[]>,
  before: ServerFigures | null,
  after: ServerFigures | null,
): string {
  const of = (rows: readonly Figures[], field: keyof Figures) => median(rows.map((row) => row[field]))
  const floor = [...taken].find(([name]) => name.startsWith('floor'))?.[1]
  const rows = [...taken].map(([name, figures]) => {
    const ratio = floor === undefined ? '' : (of(figures, 'perSecond') / of(floor, 'perSecond')).toFixed(2)
    const server = title === 'SQLite' ? '' : of(figures, 'server').toFixed(0)
    return `| ${name} | ${of(figures, 'perSecond').toFixed(0)} | ${ratio} | ${of(figures, 'own').toFixed(0)} | ${server} |`
  })
  return [
    `### Processor updates, ${title}`,
    '',
    `${turns} turns of ${payments.toLocaleString('en')} payments with ${rounds} updates each; load ${loadavg()[0]?.toFixed(1)}.`,
    '',
    '| | updates/s | of the floor | CPU of this process, µs | CPU of the server, µs |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    ...(before === null || after === null ? [] : [hotOf(before, after), '']),
  ].join('\n')
}

const hotOf = (before: ServerFigures, after: ServerFigures) =>
  `${Math.round(((after.hot - before.hot) * 100) / (after.updated - before.updated))} % of the changed rows wrote no index.`
