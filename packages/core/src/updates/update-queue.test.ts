/** Updates that arrive at the same time share a transaction; none waits for the failure of another. */
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import { expect, test, vi } from 'vitest'
import { StoreError, UpdateConflictError } from '../errors.js'
import { createUpdateQueue, maxUpdatesPerCommit } from './update-queue.js'

const update = (id: string): ProcessorUpdate => ({ id, chainId: '1', txHash: `0x${'a'.repeat(64)}` })
const result = ({ id }: ProcessorUpdate): UpdateResult => ({ id, outcome: 'applied', version: 2, reason: null })
const fulfilled = (one: ProcessorUpdate) => ({ status: 'fulfilled', value: result(one) }) as const

/** A queue whose transactions end when the test says so. */
function heldQueue() {
  const running: { readonly ids: readonly string[]; end(): void }[] = []
  const apply = createUpdateQueue(
    (updates) =>
      new Promise((resolve) => {
        running.push({ ids: updates.map(({ id }) => id), end: () => resolve(updates.map(fulfilled)) })
      }),
  )
  return { apply: (id: string) => apply(update(id)), running, ids: () => running.map(({ ids }) => ids) }
}

test('an update is applied at once, and those that arrive while two transactions run share the next one', async () => {
  const { apply, running, ids } = heldQueue()
  const all = ['a', 'b', 'c', 'd'].map(apply)
  expect(ids()).toEqual([['a'], ['b']])
  running[0]?.end()
  expect(await all[0]).toEqual(result(update('a')))
  await vi.waitFor(() => expect(ids()).toEqual([['a'], ['b'], ['c', 'd']]))
  running[1]?.end()
  running[2]?.end()
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'].map((id) => result(update(id))))
})

test('a transaction has at most so many updates, in the order of their arrival', async () => {
  const { apply, running, ids } = heldQueue()
  const names = Array.from({ length: maxUpdatesPerCommit + 3 }, (_, n) => `u${n}`)
  const all = names.map(apply)
  for (let n = 0; n < 4; n += 1) {
    await vi.waitFor(() => expect(running.length).toBeGreaterThan(n))
    running[n]?.end()
  }
  await Promise.all(all)
  expect(ids()).toEqual([['u0'], ['u1'], names.slice(2, 2 + maxUpdatesPerCommit), names.slice(-1)])
})

test('when a shared transaction fails each update is applied alone, and has its own failure', async () => {
  const sizes: number[] = []
  let isHeld = true
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const apply = createUpdateQueue(async (updates) => {
    sizes.push(updates.length)
    if (isHeld) await held
    if (updates.some(({ id }) => id === 'locked')) throw new StoreError('ERR_STORE_BUSY', 'the payment is locked')
    return updates.map(fulfilled)
  })
  const all = ['a', 'b', 'c', 'locked', 'd'].map((id) => apply(update(id)))
  isHeld = false
  release()
  const outcomes = await Promise.allSettled(all)
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(outcomes[3]).toMatchObject({ reason: { code: 'ERR_STORE_BUSY' } })
  expect(sizes).toEqual([1, 1, 3, 1, 1, 1])
})

test('a conflict rejects its own update alone', async () => {
  const apply = createUpdateQueue(async (updates) =>
    updates.map((one) =>
      one.id === 'used' ? { status: 'rejected', reason: new UpdateConflictError(one.id) } : fulfilled(one),
    ),
  )
  const outcomes = await Promise.allSettled(['a', 'b', 'used', 'c'].map((id) => apply(update(id))))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
})
