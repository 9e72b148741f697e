/** Every order of small sets of deliveries, with every choice of effects that fail. @module */

import { decideVersion } from '../decide-version.js'
import { equal, holds } from './assert.js'
import { at, type Case, type ConformanceFixture, deliver, forEachOf, orders } from './fixture.js'

const sets = [
  [1, 1],
  [1, 2],
  [1, 1, 2],
  [1, 2, 3],
  [2, 2, 2],
  [1, 2, 2, 3],
]

/** Payments that are tried at a time. */
const atATime = 8

interface Scenario {
  readonly versions: readonly number[]
  /** Which deliveries have an effect that fails. */
  readonly fails: readonly boolean[]
}

/** 284 scenarios; each runs as a payment of its own. */
const scenarios: readonly Scenario[] = sets.flatMap((set) =>
  orders(set).flatMap((versions) =>
    Array.from({ length: 2 ** versions.length }, (_, mask) => ({
      versions,
      fails: versions.map((_version, index) => (mask & (1 << index)) !== 0),
    })),
  ),
)

/** All orders, in a row and at once. */
export function interleavingCases<Tx>(): Case<Tx>[] {
  return [
    {
      name: 'every order of small sets of deliveries, one after the other, ends as the rule says',
      async run(fixture) {
        await forEachOf(scenarios, atATime, async (scenario, payment) => {
          let stored: number | undefined
          for (const [index, version] of scenario.versions.entries()) {
            const expected = decideVersion(stored, version)
            const fails = scenario.fails[index] === true
            equal(
              await outcomeOf(fixture, at(version, payment), fails),
              expected === 'apply' && fails ? 'failed' : expected,
              label(scenario),
            )
            if (expected === 'apply' && !fails) stored = version
          }
          equal(await fixture.store.current(at(1, payment)), stored, label(scenario))
          await heal(fixture, payment, scenario)
        })
      },
    },
    {
      name: 'every order of small sets of deliveries, all at once, keeps each version once and in rising order',
      async run(fixture) {
        const outcomes = await Promise.all(
          scenarios.map(({ versions, fails }, payment) =>
            Promise.all(
              versions.map((version, index) => outcomeOf(fixture, at(version, payment), fails[index] === true)),
            ),
          ),
        )
        await forEachOf(scenarios, atATime, async (scenario, payment) => {
          const applied = scenario.versions.filter((_, index) => outcomes[payment]?.[index] === 'apply')
          equal(new Set(applied).size, applied.length, label(scenario))
          const greatest = applied.length === 0 ? undefined : Math.max(...applied)
          equal(await fixture.store.current(at(1, payment)), greatest, label(scenario))
          await heal(fixture, payment, scenario)
        })
        const kept = new Map<string, number>()
        for (const note of await fixture.notes()) {
          // Without transactions, a failed effect's writes stay. Another test forbids that, and excuses such a store.
          if (note.endsWith('!')) continue
          const [payment = '', version = ''] = note.split('/')
          const before = kept.get(payment) ?? 0
          holds(Number(version) > before, note)
          kept.set(payment, Number(version))
        }
      },
    },
  ]
}

/** Delivers the whole set again without failures: the greatest version is handled in the end, and stays. */
async function heal<Tx>(fixture: ConformanceFixture<Tx>, payment: number, scenario: Scenario): Promise<void> {
  const greatest = Math.max(...scenario.versions)
  for (const version of scenario.versions) await deliver(fixture, at(version, payment))
  equal(await fixture.store.current(at(1, payment)), greatest, label(scenario))
  equal(await deliver(fixture, at(greatest, payment)), 'duplicate', label(scenario))
}

const intended = new Error('this effect was told to fail')

async function outcomeOf<Tx>(fixture: ConformanceFixture<Tx>, payment: ReturnType<typeof at>, fails: boolean) {
  try {
    return await deliver(fixture, payment, fails ? intended : undefined)
  } catch (error) {
    if (error === intended) return 'failed'
    throw error
  }
}

function label({ versions, fails }: Scenario): string {
  return versions.map((version, index) => `${version}${fails[index] ? '!' : ''}`).join(' ')
}
