/** Deliveries at the same time. @module */
import { expect } from 'vitest'
import { at, type Case, deliver, unwanted } from './fixture.js'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Races between copies, versions and readers. */
export function concurrencyCases<Tx>(): Case<Tx>[] {
  return [
    {
      name: 'twenty copies of one delivery have one winner',
      async run(fixture) {
        const decisions = await Promise.all(upTo(20).map(() => deliver(fixture, at(3))))
        expect(decisions.filter((decision) => decision === 'apply')).toHaveLength(1)
        expect(decisions.filter((decision) => decision === 'duplicate')).toHaveLength(19)
        expect(await fixture.notes()).toEqual(['1/3'])
      },
    },
    {
      name: 'twenty versions at once end at the greatest, kept in rising order',
      async run(fixture) {
        const mixed = upTo(20).map((index) => ((index * 7) % 20) + 1)
        await Promise.all(mixed.map((version) => deliver(fixture, at(version))))
        expect(await fixture.store.current(at(1))).toBe(20)
        const kept = (await fixture.notes()).map((note) => Number(note.slice(2)))
        expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b))
        expect(kept.at(-1)).toBe(20)
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
        expect(decisions.sort()).toEqual(['apply', 'duplicate', 'duplicate', 'duplicate', 'failed'])
        expect(await fixture.notes()).toEqual(['1/1'])
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
        expect(await winner).toBe('apply')
        expect(await copy).toEqual({ decision: 'duplicate', done: true })
        const early = await seen
        if (early.version !== undefined) expect(early).toEqual({ version: 1, done: true })
        expect(await store.current(at(1))).toBe(1)
      },
    },
    {
      name: 'fifty payments at once each keep their own version',
      async run(fixture) {
        const payments = upTo(50)
        await Promise.all(
          payments.flatMap((payment) => [deliver(fixture, at(2, payment)), deliver(fixture, at(1, payment))]),
        )
        for (const payment of payments) expect(await fixture.store.current(at(1, payment))).toBe(2)
      },
    },
    {
      name: 'an effect that calls its own store is refused instead of waiting for itself',
      async run(fixture) {
        const { store } = fixture
        const reentrant = { code: 'ERR_EFFECT_REENTRANT' }
        await expect(store.advance(at(1), () => store.advance(at(1), unwanted).then())).rejects.toMatchObject(reentrant)
        await expect(store.advance(at(1), async () => void (await store.current(at(1))))).rejects.toMatchObject(
          reentrant,
        )
        expect(await deliver(fixture, at(1))).toBe('apply')
      },
    },
  ]
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
