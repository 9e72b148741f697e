/** Updates that arrive at the same time share a transaction; a failure is that of its own request. */
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import { expect, test, vi } from 'vitest'
import { StoreError, UpdateConflictError } from '../errors.js'
import { createUpdateQueue, maxQueuedUpdates, maxUpdatesPerCommit, type UpdateQueue } from './receive-updates.js'

const update = (id: string): ProcessorUpdate => ({ id, chainId: '1', txHash: `0x${'a'.repeat(64)}` })
const result = ({ id }: ProcessorUpdate): UpdateResult => ({ id, outcome: 'applied', version: 2, reason: null })
const fulfilled = (one: ProcessorUpdate) => ({ status: 'fulfilled', value: result(one) }) as const

const notNested = () => undefined

/** A queue whose transactions end when the test says so. */
function heldQueue() {
  const running: { readonly ids: readonly string[]; end(): void }[] = []
  const apply = createUpdateQueue(
    (updates) =>
      new Promise((resolve) => {
        running.push({ ids: updates.map(({ id }) => id), end: () => resolve(updates.map(fulfilled)) })
      }),
    notNested,
  )
  return {
    apply: (...ids: string[]) => apply(ids.map(update)),
    running,
    ids: () => running.map(({ ids }) => ids),
    end: (index: number) => running[index]?.end(),
  }
}

/** A queue whose first two transactions wait until the returned function is called. */
function startedQueue(apply: UpdateQueue) {
  let begin = (): void => undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  let started = 0
  const queue = createUpdateQueue(async (updates) => {
    started += 1
    if (started <= 2) await begun
    return apply(updates)
  }, notNested)
  return { queue, begin }
}

const statuses = (outcomes: readonly PromiseSettledResult<unknown>[]) => outcomes.map(({ status }) => status)

test('an update is applied at once, and those that arrive while two transactions run share the next one', async () => {
  const { apply, ids, end } = heldQueue()
  const all = ['a', 'b', 'c', 'd'].map((id) => apply(id))
  expect(ids()).toEqual([['a'], ['b']])
  end(0)
  expect(await all[0]).toEqual([fulfilled(update('a'))])
  await vi.waitFor(() => expect(ids()).toEqual([['a'], ['b'], ['c', 'd']]))
  end(1)
  end(2)
  expect((await Promise.all(all)).flat()).toEqual(['a', 'b', 'c', 'd'].map((id) => fulfilled(update(id))))
})

test('a transaction has at most 100 updates and whole requests alone, in the order of their arrival', async () => {
  const { apply, running, ids, end } = heldQueue()
  const many = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}${n}`)
  const requests = [['a'], ['b'], many('c', 60), many('d', 60), ['e'], many('f', maxUpdatesPerCommit)]
  const all = requests.map((each) => apply(...each))
  for (let n = 0; n < 5; n += 1) {
    await vi.waitFor(() => expect(running.length).toBeGreaterThan(n))
    end(n)
  }
  await Promise.all(all)
  expect(ids()).toEqual([['a'], ['b'], requests[2], [...(requests[3] ?? []), 'e'], requests[5]])
})

test('when one request makes a shared transaction fail the others are applied, each alone', async () => {
  const sizes: number[] = []
  const { queue, begin } = startedQueue(async (updates) => {
    sizes.push(updates.length)
    if (updates.some(({ id }) => id === 'locked')) throw new StoreError('ERR_STORE_BUSY', 'the payment is locked')
    return updates.map(fulfilled)
  })
  const all = ['a', 'b', 'c', 'locked', 'd'].map((id) => queue([update(id)]))
  begin()
  const outcomes = await Promise.allSettled(all)
  expect(statuses(outcomes)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(outcomes[3]).toMatchObject({ reason: { code: 'ERR_STORE_BUSY' } })
  expect(sizes).toEqual([1, 1, 3, 1, 1, 1])
})

test('after two requests that fail alone the rest of their transaction is rejected, not tried', async () => {
  let calls = 0
  const { queue, begin } = startedQueue(async () => {
    calls += 1
    throw new StoreError('ERR_STORE_BUSY', 'locked')
  })
  const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => queue([update(id)]))
  begin()
  expect(statuses(await Promise.allSettled(all))).toEqual(Array(6).fill('rejected'))
  expect(calls).toBe(2 + 1 + 2)
})

test('a full queue rejects at once, and accepts again when it is shorter', async () => {
  const { apply, running, end } = heldQueue()
  const all = Array.from({ length: maxQueuedUpdates + 2 }, (_, n) => apply(`u${n}`))
  await expect(apply('late')).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
  end(0)
  await vi.waitFor(() => expect(running).toHaveLength(3))
  all.push(apply('later'))
  for (let n = 1; n < running.length; n += 1) {
    end(n)
    await vi.waitFor(() => expect(n + 1 < running.length || n * maxUpdatesPerCommit > maxQueuedUpdates).toBe(true))
  }
  await Promise.all(all)
})

test('a conflict rejects its own update alone', async () => {
  const conflict = { status: 'rejected', reason: new UpdateConflictError('used') } as const
  const { queue, begin } = startedQueue(async (updates) =>
    updates.map((one) => (one.id === 'used' ? conflict : fulfilled(one))),
  )
  const all = ['a', 'b', 'used', 'c'].map((id) => queue([update(id)]))
  begin()
  const [a, b, c] = ['a', 'b', 'c'].map((id) => fulfilled(update(id)))
  expect((await Promise.all(all)).flat()).toEqual([a, b, conflict, c])
})

test('an update inside the work of a transaction is rejected before it waits', async () => {
  const nested = new TypeError('nested')
  const queue = createUpdateQueue(
    async (updates) => updates.map(fulfilled),
    () => {
      throw nested
    },
  )
  await expect(queue([update('a')])).rejects.toBe(nested)
})

test('a store that cannot be reached rejects all requests of a transaction, and none is tried again', async () => {
  let calls = 0
  const { queue, begin } = startedQueue(async () => {
    calls += 1
    throw new StoreError('ERR_STORE_UNAVAILABLE', 'no connection')
  })
  const all = ['a', 'b', 'c', 'd'].map((id) => queue([update(id)]))
  begin()
  for (const outcome of await Promise.allSettled(all))
    expect(outcome).toMatchObject({ reason: { code: 'ERR_STORE_UNAVAILABLE' } })
  expect(calls).toBe(3)
})
