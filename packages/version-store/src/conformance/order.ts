/** One delivery after the other. @module */
import { equal, holds, reasonOf } from './assert.js'
import { at, type Case, deliver, unwanted } from './fixture.js'

/** Order, failure and retry. */
export function orderCases<Tx>(): Case<Tx>[] {
  return [
    {
      name: 'a new payment has no version',
      run: async ({ store }) => equal(await store.current(at(1)), undefined),
    },
    {
      name: 'a first version is applied and stored, whatever its number',
      async run(fixture) {
        equal(await deliver(fixture, at(7)), 'apply')
        equal(await fixture.store.current(at(1)), 7)
        equal(await fixture.notes(), ['1/7'])
      },
    },
    {
      name: 'a greater version is applied, over gaps too',
      async run(fixture) {
        for (const version of [1, 2, 9, 10, 100]) equal(await deliver(fixture, at(version)), 'apply')
        equal(await fixture.store.current(at(1)), 100)
        equal(await fixture.notes(), ['1/1', '1/2', '1/9', '1/10', '1/100'])
      },
    },
    {
      name: 'the same version is a duplicate, an older one stale, and neither runs its effect',
      async run(fixture) {
        await deliver(fixture, at(5))
        equal(await fixture.store.advance(at(5), unwanted), 'duplicate')
        equal(await fixture.store.advance(at(4), unwanted), 'stale')
        equal(await fixture.store.advance(at(1), unwanted), 'stale')
        equal(await fixture.store.current(at(1)), 5)
      },
    },
    {
      name: 'an effect may be synchronous',
      async run({ store }) {
        let ran = 0
        equal(await store.advance(at(1), () => void ran++), 'apply')
        equal(await store.advance(at(1), unwanted), 'duplicate')
        equal(ran, 1)
      },
    },
    {
      name: 'a failed effect passes its own error out, stores nothing, and can be tried again',
      async run(fixture) {
        const { store } = fixture
        await deliver(fixture, at(1))
        const thrown = new Error('thrown')
        const rejected = new Error('rejected')
        const throwing = store.advance(at(2), () => {
          throw thrown
        })
        holds((await reasonOf(throwing)) === thrown, 'what the effect throws comes out')
        const rejecting = store.advance(at(2), () => Promise.reject(rejected))
        holds((await reasonOf(rejecting)) === rejected, 'what the effect rejects with comes out')
        equal(await reasonOf(store.advance(at(2), () => Promise.reject(undefined))), undefined)
        equal(await store.current(at(1)), 1)
        equal(await deliver(fixture, at(2)), 'apply')
        equal(await store.current(at(1)), 2)
      },
    },
    {
      name: 'a failed effect leaves none of its writes',
      async run(fixture) {
        const failure = new Error('after the write')
        holds((await reasonOf(deliver(fixture, at(1), failure))) === failure, 'its own error comes out')
        equal(await fixture.notes(), [])
        await deliver(fixture, at(1))
        holds((await reasonOf(deliver(fixture, at(2), failure))) === failure, 'its own error comes out')
        equal(await fixture.notes(), ['1/1'])
      },
    },
    {
      name: 'an older version does not undo a newer failed one',
      async run(fixture) {
        const failure = new Error('3 fails')
        holds((await reasonOf(deliver(fixture, at(3), failure))) === failure, 'its own error comes out')
        equal(await deliver(fixture, at(2)), 'apply')
        equal(await deliver(fixture, at(3)), 'apply')
        equal(await fixture.store.current(at(1)), 3)
      },
    },
  ]
}
