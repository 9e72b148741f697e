/** Deliveries at the same time. @module */
import { equal, reasonOf } from './assert.js'
import { at, type Case, deferred, deliver, unwanted } from './fixture.js'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Races between copies, versions and readers. */
export function concurrencyCases<Tx>(): Case<Tx>[] {
  return [
    {
      name: 'twenty copies of one delivery have one winner',
      async run(fixture) {
        const decisions = await Promise.all(upTo(20).map(() => deliver(fixture, at(3))))
        equal(decisions.filter((decision) => decision === 'apply').length, 1)
        equal(decisions.filter((decision) => decision === 'duplicate').length, 19)
        equal(await fixture.notes(), ['1/3'])
      },
    },
    {
      name: 'twenty versions at once end at the greatest, kept in rising order',
      async run(fixture) {
        const mixed = upTo(20).map((index) => ((index * 7) % 20) + 1)
        await Promise.all(mixed.map((version) => deliver(fixture, at(version))))
        equal(await fixture.store.current(at(1)), 20)
        const kept = (await fixture.notes()).map((note) => Number(note.slice(2)))
        equal(
          kept,
          [...new Set(kept)].sort((a, b) => a - b),
        )
        equal(kept.at(-1), 20)
      },
    },
    {
      name: 'when a copy fails, one of those that wait takes its place',
      async run(fixture) {
        const failure = new Error('the first copy fails')
        let failed = false
        const outcomes = await Promise.allSettled(
          upTo(5).map(() =>
            fixture.store.advance(at(1), async (tx) => {
              if (!failed) {
                failed = true
                throw failure
              }
              await fixture.write(tx, '1/1')
            }),
          ),
        )
        const decisions = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed'))
        equal(decisions.sort(), ['apply', 'duplicate', 'duplicate', 'duplicate', 'failed'])
        equal(await fixture.notes(), ['1/1'])
      },
    },
    {
      name: 'a version is not seen before its effect is done',
      async run({ store }) {
        const started = deferred()
        const release = deferred()
        let done = false
        const winner = store.advance(at(1), async () => {
          started.resolve()
          await release.promise
          done = true
        })
        await started.promise
        // Each of these may wait for the effect, or answer without it; neither may see the version early.
        const seen = store.current(at(1)).then((version) => ({ version, done }))
        const copy = store.advance(at(1), unwanted).then((decision) => ({ decision, done }))
        release.resolve()
        equal(await winner, 'apply')
        equal(await copy, { decision: 'duplicate', done: true })
        const early = await seen
        if (early.version !== undefined) equal(early, { version: 1, done: true })
        equal(await store.current(at(1)), 1)
      },
    },
    {
      name: 'fifty payments at once each keep their own version',
      async run(fixture) {
        const payments = upTo(50)
        await Promise.all(
          payments.flatMap((payment) => [deliver(fixture, at(2, payment)), deliver(fixture, at(1, payment))]),
        )
        for (const payment of payments) equal(await fixture.store.current(at(1, payment)), 2)
      },
    },
    {
      name: 'an effect that calls its own store is refused instead of waiting for itself',
      async run(fixture) {
        const { store } = fixture
        const reentrant = 'ERR_EFFECT_REENTRANT'
        equal(await codeOf(store.advance(at(1), () => store.advance(at(1), unwanted).then())), reentrant)
        equal(await codeOf(store.advance(at(1), async () => void (await store.current(at(1))))), reentrant)
        equal(await deliver(fixture, at(1)), 'apply')
      },
    },
  ]
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return ((await reasonOf(promise)) as { code?: unknown }).code
}
