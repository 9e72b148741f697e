/** One delivery after the other. @module */
import { expect } from 'vitest'
import { at, type Case, deliver, unwanted } from './fixture.js'

/** Order, failure and retry. */
export function orderCases<Tx>(): Case<Tx>[] {
  return [
    {
      name: 'a new payment has no version',
      run: async ({ store }) => expect(await store.current(at(1))).toBeUndefined(),
    },
    {
      name: 'a first version is applied and stored, whatever its number',
      async run(fixture) {
        expect(await deliver(fixture, at(7))).toBe('apply')
        expect(await fixture.store.current(at(1))).toBe(7)
        expect(await fixture.notes()).toEqual(['1/7'])
      },
    },
    {
      name: 'a greater version is applied, over gaps too',
      async run(fixture) {
        for (const version of [1, 2, 9, 10, 100]) expect(await deliver(fixture, at(version))).toBe('apply')
        expect(await fixture.store.current(at(1))).toBe(100)
        expect(await fixture.notes()).toEqual(['1/1', '1/2', '1/9', '1/10', '1/100'])
      },
    },
    {
      name: 'the same version is a duplicate, an older one stale, and neither runs its effect',
      async run(fixture) {
        await deliver(fixture, at(5))
        expect(await fixture.store.advance(at(5), unwanted)).toBe('duplicate')
        expect(await fixture.store.advance(at(4), unwanted)).toBe('stale')
        expect(await fixture.store.advance(at(1), unwanted)).toBe('stale')
        expect(await fixture.store.current(at(1))).toBe(5)
      },
    },
    {
      name: 'an effect may be synchronous',
      async run({ store }) {
        let ran = 0
        expect(await store.advance(at(1), () => void ran++)).toBe('apply')
        expect(await store.advance(at(1), unwanted)).toBe('duplicate')
        expect(ran).toBe(1)
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
        await expect(throwing).rejects.toBe(thrown)
        await expect(store.advance(at(2), () => Promise.reject(rejected))).rejects.toBe(rejected)
        await expect(store.advance(at(2), () => Promise.reject(undefined))).rejects.toBeUndefined()
        expect(await store.current(at(1))).toBe(1)
        expect(await deliver(fixture, at(2))).toBe('apply')
        expect(await store.current(at(1))).toBe(2)
      },
    },
    {
      name: 'a failed effect leaves none of its writes',
      async run(fixture) {
        const failure = new Error('after the write')
        await expect(deliver(fixture, at(1), failure)).rejects.toBe(failure)
        expect(await fixture.notes()).toEqual([])
        await deliver(fixture, at(1))
        await expect(deliver(fixture, at(2), failure)).rejects.toBe(failure)
        expect(await fixture.notes()).toEqual(['1/1'])
      },
    },
    {
      name: 'an older version does not undo a newer failed one',
      async run(fixture) {
        await expect(deliver(fixture, at(3), new Error('3 fails'))).rejects.toThrow('3 fails')
        expect(await deliver(fixture, at(2))).toBe('apply')
        expect(await deliver(fixture, at(3))).toBe('apply')
        expect(await fixture.store.current(at(1))).toBe(3)
      },
    },
  ]
}
