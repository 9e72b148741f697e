import { systemClock } from '@payment-integration/core'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../../packages/core/test/support/store.js'
import { controlProcess, createClock, getStore } from './process-control.js'

const checkpoint = { blockNumber: 7, blockHash: `0x${'07'.repeat(32)}` }
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Runs a transaction in a process that dies after so many steps. */
async function dieAfter(steps: number) {
  const store = openStore()
  let died = 0
  const control = controlProcess(() => {
    died += 1
  })
  control.killAfter(steps)
  let answered = false
  getStore(control, store, systemClock)
    .transaction(async (tx) => {
      await tx.lockChain(1)
      await tx.setCheckpoint(1, checkpoint)
    })
    .finally(() => {
      answered = true
    })
    .catch(() => undefined)
  for (let turns = 0; turns < 5; turns += 1) await turn()
  return { committed: (await store.payments.checkpoint(1)) !== null, answered, died, alive: control.alive }
}

describe('a process that is killed', () => {
  // It has five steps: the call, two operations, the commit, and its answer.
  test.each([
    [1, false],
    [2, false],
    [3, false],
    [4, false],
    [5, true],
  ])('at step %i gets no answer, and its transaction is committed: %s', async (steps, committed) => {
    expect(await dieAfter(steps)).toEqual({ committed, answered: false, died: 1, alive: false })
  })

  test('after the last step has the answer of its commit', async () => {
    expect(await dieAfter(6)).toEqual({ committed: true, answered: true, died: 0, alive: true })
  })

  test('leaves the store usable for others', async () => {
    const store = openStore()
    const control = controlProcess(() => undefined)
    control.killAfter(3)
    getStore(control, store, systemClock)
      .transaction(async (tx) => {
        await tx.lockChain(1)
        await tx.setCheckpoint(1, checkpoint)
      })
      .catch(() => undefined)
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
    const writing = getStore(control, store, clock)
      .transaction((tx) => tx.setCheckpoint(1, checkpoint))
      .then(() => done.push('written'))
    const sleeping = createClock(control, clock)
      .sleep(10)
      .then(() => done.push('slept'))
    await turn()
    now = 10
    for (const wake of waking.splice(0)) wake()
    await turn()
    expect([done, await store.payments.checkpoint(1)]).toEqual([[], null])
    now = 50
    for (const wake of waking.splice(0)) wake()
    await Promise.all([writing, sleeping])
    expect(done.toSorted()).toEqual(['slept', 'written'])
  })
})
