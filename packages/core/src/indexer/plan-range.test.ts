import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Checkpoint } from './chain-store.js'
import { planRange } from './follower.js'

const head = (number: number, hash = 'ours') => ({ number, hash, parentHash: 'parent', timestamp: 0 })
const at = (blockNumber: number, blockHash = 'ours') => ({ blockNumber, blockHash })

test.each([
  ['genesis, alone', head(9), null, 0, { kind: 'read', from: 0, to: 0 }],
  ['the head, where that is genesis', head(0), null, 'head', { kind: 'read', from: 0, to: 0 }],
  ['a start at the height of the head', head(7), null, 7, { kind: 'start', at: 7 }],
  ['a start above the head', head(6), null, 7, { kind: 'wait' }],
  ['a start at the head', head(6), null, 'head', { kind: 'start', at: 6 }],
  ['the first blocks after the start', head(9), at(6), 7, { kind: 'read', from: 7, to: 9 }],
  ['a start above what is stored already', head(16), at(5), 9, { kind: 'read', from: 6, to: 16 }],
  ['our own head', head(5), at(5), 0, { kind: 'wait' }],
  ['another block at our height', head(5, 'theirs'), at(5), 0, { kind: 'verify' }],
  ['a lower head', head(4), at(5), 0, { kind: 'wait' }],
  ['a lower head with another hash', head(4, 'theirs'), at(5), 0, { kind: 'wait' }],
] as const)('%s', (_case, newest, checkpoint, start, plan) => {
  expect(planRange(newest, checkpoint, start)).toEqual(plan)
})

test('the plan reads every block once, in order, however far each read gets', () => {
  const committed = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 })
  fc.assert(
    fc.property(fc.nat(300), committed, fc.nat(300), (start, sizes, height) => {
      const read: number[] = []
      let checkpoint: Checkpoint | null = null
      for (let round = 0; ; round += 1) {
        const plan = planRange(head(height), checkpoint, start)
        if (plan.kind === 'start') checkpoint = at(plan.at - 1)
        if (plan.kind === 'start') continue
        if (plan.kind !== 'read') break
        const to = Math.min(plan.to, plan.from + (sizes[round % sizes.length] ?? 1) - 1)
        for (let block = plan.from; block <= to; block += 1) read.push(block)
        checkpoint = at(to)
      }
      expect(read).toEqual(Array.from({ length: Math.max(0, height - start + 1) }, (_, index) => start + index))
    }),
  )
})
