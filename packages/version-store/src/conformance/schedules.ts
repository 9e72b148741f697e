/** Every order and interleaving of small sets of deliveries, with every choice of failing effects. @module */
import { decideVersion, type VersionDecision, type VersionedPayment } from '../version-store.js'
import type { Cases, ConformanceFixture } from './fixture.js'
import { at, buildNote, deferred, deliver, equal, holds, listOrders, rises, runForEach } from './fixture.js'

/** Payments that are tested at a time: each may use as many connections as it has deliveries. */
const atATime = 8
const intended = new Error('this effect was told to fail')

const orderSets = [
  [1, 1],
  [1, 2],
  [1, 1, 2],
  [1, 2, 3],
  [2, 2, 2],
  [1, 2, 2, 3],
]

interface OrderScenario {
  /** By delivery, in the order in which they begin. */
  readonly versions: readonly number[]
  /** Which deliveries have an effect that fails. */
  readonly fails: readonly boolean[]
}

/** 284 scenarios; each runs as a payment of its own. */
const scenarios: readonly OrderScenario[] = orderSets.flatMap((set) =>
  listOrders(set).flatMap((versions) => listFailureChoices(versions.length).map((fails) => ({ versions, fails }))),
)

/** Every choice of failing effects among this many deliveries. */
function listFailureChoices(deliveries: number): boolean[][] {
  return Array.from({ length: 2 ** deliveries }, (_, mask) =>
    Array.from({ length: deliveries }, (_, index) => (mask & (1 << index)) !== 0),
  )
}

export const interleavingCases: Cases = {
  async 'every order of small sets of deliveries, one after the other, ends as the rule says'(fixture) {
    await runForEach(scenarios, atATime, async (scenario, payment) => {
      let stored: number | undefined
      for (const [index, version] of scenario.versions.entries()) {
        const expected = decideVersion(stored, version)
        const fails = scenario.fails[index] === true
        const outcome = await settle(fixture, at(version, payment), fails)
        equal(outcome, expected === 'apply' && fails ? 'failed' : expected, orderLabel(scenario))
        if (expected === 'apply' && !fails) stored = version
      }
      equal(await fixture.store.current(at(1, payment)), stored, orderLabel(scenario))
      await heal(fixture, payment, scenario)
    })
  },
  async 'every order of small sets of deliveries, all at once, keeps each version once and in rising order'(fixture) {
    const outcomes = await Promise.all(
      scenarios.map(({ versions, fails }, payment) =>
        Promise.all(versions.map((version, index) => settle(fixture, at(version, payment), fails[index] === true))),
      ),
    )
    await runForEach(scenarios, atATime, async (scenario, payment) => {
      const applied = scenario.versions.filter((_, index) => outcomes[payment]?.[index] === 'apply')
      equal(new Set(applied).size, applied.length, orderLabel(scenario))
      const greatest = applied.length === 0 ? undefined : Math.max(...applied)
      equal(await fixture.store.current(at(1, payment)), greatest, orderLabel(scenario))
      await heal(fixture, payment, scenario)
    })
    const kept = new Map<string, number>()
    for (const note of await fixture.notes()) {
      // Without transactions, a failed effect's writes stay. Another test forbids that, and can be excused.
      if (note.endsWith('!')) continue
      const [payment = '', version = ''] = note.split('/')
      const before = kept.get(payment) ?? 0
      holds(Number(version) > before, note)
      kept.set(payment, Number(version))
    }
  },
}

/** Delivers the whole set again without failures: the greatest version is handled in the end, and stays. */
async function heal<Tx>(fixture: ConformanceFixture<Tx>, payment: number, scenario: OrderScenario): Promise<void> {
  const greatest = Math.max(...scenario.versions)
  for (const version of scenario.versions) await deliver(fixture, at(version, payment))
  equal(await fixture.store.current(at(1, payment)), greatest, orderLabel(scenario))
  equal(await deliver(fixture, at(greatest, payment)), 'duplicate', orderLabel(scenario))
}

async function settle<Tx>(fixture: ConformanceFixture<Tx>, payment: ReturnType<typeof at>, fails: boolean) {
  try {
    return await deliver(fixture, payment, fails ? intended : undefined)
  } catch (error) {
    if (error === intended) return 'failed'
    throw error
  }
}

function orderLabel({ versions, fails }: OrderScenario): string {
  return versions.map((version, index) => `${version}${fails[index] ? '!' : ''}`).join(' ')
}

/** The versions of two or three deliveries. Only their order matters, so these sets cover all. */
const sets = [
  [1, 1],
  [1, 2],
  [1, 1, 1],
  [1, 1, 2],
  [1, 2, 2],
  [1, 2, 3],
]

interface Scenario extends OrderScenario {
  /** Deliveries by index. Each begins at its first mention, and its effect may end from its second on. */
  readonly schedule: readonly number[]
}

interface Running {
  isInEffect: boolean
  /** Whether the effect may end. */
  isReleased: boolean
  /** Undefined until the delivery is over. */
  outcome?: VersionDecision | 'failed'
  /** A failure of the store, not the effect's own. */
  error?: unknown
  readonly release: () => void
  /** Resolves when the delivery is over, whatever its outcome. */
  readonly ended: Promise<void>
}

/** All schedules, one test for each set of versions. */
export const scheduleCases: Cases = Object.fromEntries(
  sets.map((set) => [
    `every interleaving of concurrent deliveries of ${set.join(', ')} keeps each version once, in rising order`,
    async (fixture) => {
      const scenarios = buildScenarios(set)
      await runForEach(scenarios, atATime, (scenario, payment) => play(fixture, payment, scenario))
      const notes = await fixture.notes()
      for (const [payment, scenario] of scenarios.entries()) {
        const mine = notes.filter((note) => note.startsWith(`${payment}/`) && !note.endsWith('!'))
        const kept = mine.map((note) => Number(note.slice(note.indexOf('/') + 1)))
        rises(kept, label(scenario))
        equal(kept.at(-1), Math.max(...scenario.versions), label(scenario))
      }
    },
  ]),
)

/** Plays the schedule. Each step waits for its consequences, so that the next step meets the intended state. */
async function play<Tx>(fixture: ConformanceFixture<Tx>, payment: number, scenario: Scenario): Promise<void> {
  const { versions, fails, schedule } = scenario
  const about = label(scenario)
  const running: Running[] = []
  let change = deferred()
  const noteChange = () => {
    change.resolve()
    change = deferred()
  }
  /** Whether an effect runs that may not end yet, or every delivery is over. */
  const isSettled = () => {
    const inFlight = running.filter(({ outcome }) => outcome === undefined)
    return inFlight.length === 0 || inFlight.some(({ isInEffect, isReleased }) => isInEffect && !isReleased)
  }

  for (const delivery of schedule) {
    const begun = running[delivery]
    if (begun !== undefined) begun.release()
    else {
      const snapshot = at(versions[delivery] ?? 0, payment)
      running[delivery] = begin(fixture, snapshot, fails[delivery] === true, noteChange)
    }
    while (!isSettled()) await change.promise
    holds(running.filter(({ isInEffect }) => isInEffect).length <= 1, `${about}: one effect at a time`)
  }
  await Promise.all(running.map(({ ended }) => ended))
  for (const { error } of running) if (error !== undefined) throw error

  // A store may wake waiting calls in any order. Each answer must fit the versions kept before it.
  const applied = versions.filter((_, index) => running[index]?.outcome === 'apply')
  equal(new Set(applied).size, applied.length, `${about}: a version is applied once`)
  let stored = applied.length === 0 ? undefined : Math.max(...applied)
  equal(await fixture.store.current(at(1, payment)), stored, about)
  for (const [index, version] of versions.entries()) {
    const outcome = running[index]?.outcome
    if (outcome === 'duplicate') holds(applied.includes(version), `${about}: a duplicate follows its original`)
    if (outcome === 'stale') holds(Math.max(...applied) > version, `${about}: a stale one follows a greater`)
    if (outcome === 'failed') equal(fails[index], true, about)
  }
  for (const version of versions) {
    const expected = decideVersion(stored, version)
    equal(await deliver(fixture, at(version, payment)), expected, `${about}, again`)
    if (expected === 'apply') stored = version
  }
}

function begin<Tx>(
  { store, write }: ConformanceFixture<Tx>,
  snapshot: VersionedPayment,
  fails: boolean,
  noteChange: () => void,
): Running {
  const gate = deferred()
  const effect = async (tx: Tx) => {
    delivery.isInEffect = true
    noteChange()
    await gate.promise
    await write(tx, fails ? `${buildNote(snapshot)}!` : buildNote(snapshot))
    delivery.isInEffect = false
    if (fails) throw intended
  }
  const end = (outcome: NonNullable<Running['outcome']>) => {
    delivery.isInEffect = false
    delivery.outcome = outcome
    noteChange()
  }
  const delivery: Running = {
    isInEffect: false,
    isReleased: false,
    release() {
      delivery.isReleased = true
      gate.resolve()
    },
    ended: Promise.resolve()
      .then(() => store.advance(snapshot, effect))
      .then(end, (error: unknown) => {
        if (error !== intended) delivery.error = error
        end('failed')
      }),
  }
  return delivery
}

/** Deliveries are numbered in the order in which they begin. The orders of the versions then cover every assignment. */
function buildScenarios(set: readonly number[]): Scenario[] {
  return listOrders(set).flatMap((versions) =>
    buildSchedules(set.length).flatMap((schedule) =>
      listFailureChoices(set.length).map((fails) => ({ versions, fails, schedule })),
    ),
  )
}

/** All schedules in which the deliveries begin in the order of their indexes: 3 of two deliveries, 15 of three. */
function buildSchedules(deliveries: number): number[][] {
  const indexes = Array.from({ length: deliveries }, (_, index) => index)
  return listOrders([...indexes, ...indexes]).filter((order) =>
    [...new Set(order)].every((delivery, index) => delivery === index),
  )
}

function label(scenario: Scenario): string {
  const { schedule } = scenario
  const isFirst = (delivery: number, index: number) => schedule.indexOf(delivery) === index
  const steps = schedule.map((delivery, index) => `${isFirst(delivery, index) ? 'begin' : 'end'} ${delivery}`)
  return `${orderLabel(scenario)}: ${steps.join(', ')}`
}
