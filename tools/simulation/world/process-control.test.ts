import { systemClock } from '@payment-integration/core'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../../packages/core/test/support/store.js'
import { controlProcess, createClock, wrapStore } from './process-control.js'

const checkpoint = { blockNumber: 7, blockHash: `0x${'07'.repeat(32)}` }
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Begins a transaction in a process that dies after so many steps. */
function begin(steps: number, onDeath: () => void = () => undefined) {
  const store = openStore()
  const control = controlProcess(onDeath)
  control.killAfter(steps)
  const work = wrapStore(control, store, systemClock).transaction(async (tx) => {
    await tx.lockChain(1)
    await tx.setCheckpoint(1, checkpoint)
  })
  return { store, control, work: work.catch(() => undefined) }
}

async function dieAfter(steps: number) {
  let died = 0
  let answered = false
  const { store, control, work } = begin(steps, () => {
    died += 1
  })
  void work.then(() => {
    answered = true
  })
  for (let turns = 0; turns < 5; turns += 1) await turn()
  return { committed: (await store.payments.checkpoint(1)) !== null, answered, died, isAlive: control.isAlive }
}

describe('a process that is killed', () => {
  // It has five steps: the call, two operations, the commit, and its answer.
  test.each([...[1, 2, 3, 4].map((step) => [step, false] as const), [5, true] as const])(
    'at step %i gets no answer, and its transaction is committed: %s',
    async (steps, committed) => {
      expect(await dieAfter(steps)).toEqual({ committed, answered: false, died: 1, isAlive: false })
    },
  )

  test('after the last step has the answer of its commit', async () => {
    expect(await dieAfter(6)).toEqual({ committed: true, answered: true, died: 0, isAlive: true })
  })

  test('leaves the store usable for others', async () => {
    const { store } = begin(3)
    await store.transaction((tx) => tx.setCheckpoint(1, { ...checkpoint, blockNumber: 8 }))
    expect(await store.payments.checkpoint(1)).toMatchObject({ blockNumber: 8 })
  })

  test('that is paused does nothing until the pause is over, and then continues', async () => {
    const store = openStore()
    const control = controlProcess(() => undefined)
    let now = 0
    const waking: (() => void)[] = []
    const clock = { now: () => now, sleep: () => new Promise<void>((resolve) => waking.push(resolve)) }
    control.pauseUntil(50)
    const done: string[] = []
    const writing = wrapStore(control, store, clock)
      .transaction((tx) => tx.setCheckpoint(1, checkpoint))
      .then(() => done.push('written'))
    const sleeping = createClock(control, clock)
      .sleep(10)
      .then(() => done.push('slept'))
    await turn()
    now = 10
    for (const wake of waking.splice(0)) void wake()
    await turn()
    expect([done, await store.payments.checkpoint(1)]).toEqual([[], null])
    now = 50
    for (const wake of waking.splice(0)) void wake()
    await Promise.all([writing, sleeping])
    expect(done.toSorted()).toEqual(['slept', 'written'])
  })
})
