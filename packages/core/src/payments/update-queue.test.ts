/** Updates that arrive at the same time share a transaction; a failure is that of its own request. */
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import { signDelivery } from '@payment-integration/webhook/signing'
import { expect, test, vi } from 'vitest'
import { deferred } from '../../test/support/until.js'
import { StoreError, UpdateConflictError } from '../errors.js'
import type { UpdateQueue } from './receive-updates.js'
import { createUpdateQueue, createUpdateReceiver, maxQueuedUpdates, maxUpdatesPerCommit } from './receive-updates.js'

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

/** Applies requests of one update each; the first two transactions wait until all requests have arrived. */
async function applyTogether(ids: string, apply: UpdateQueue) {
  const arrived = deferred()
  let started = 0
  const queue = createUpdateQueue(async (updates) => {
    started += 1
    if (started <= 2) await arrived.promise
    return apply(updates)
  }, notNested)
  const requests = ids.split(' ').map((id) => queue([update(id)]))
  arrived.resolve()
  return Promise.allSettled(requests)
}

test('an update is applied at once, and those that arrive while two transactions run share the next one', async () => {
  const { apply, ids, end } = heldQueue()
  const all = ['a', 'b', 'c', 'd'].map((id) => apply(id))
  expect(ids()).toEqual([['a'], ['b']])
  end(0)
  expect(await all[0]).toEqual([fulfilled(update('a'))])
  await vi.waitFor(() => expect(ids()).toEqual([['a'], ['b'], ['c', 'd']]), 300_000)
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
    await vi.waitFor(() => expect(running.length).toBeGreaterThan(n), 300_000)
    end(n)
  }
  await Promise.all(all)
  expect(ids()).toEqual([['a'], ['b'], requests[2], [...(requests[3] ?? []), 'e'], requests[5]])
})

test('when one request makes a shared transaction fail the others are applied, each alone', async () => {
  const sizes: number[] = []
  const outcomes = await applyTogether('a b c locked d', async (updates) => {
    sizes.push(updates.length)
    if (updates.some(({ id }) => id === 'locked')) throw new StoreError('ERR_STORE_BUSY', 'the payment is locked')
    return updates.map(fulfilled)
  })
  const applied = { status: 'fulfilled' }
  const locked = { status: 'rejected', reason: { code: 'ERR_STORE_BUSY' } }
  expect(outcomes).toMatchObject([applied, applied, applied, locked, applied])
  expect(sizes).toEqual([1, 1, 3, 1, 1, 1])
})

test.each([
  ['after two requests that fail alone', 'ERR_STORE_BUSY', 2 + 1 + 2],
  ['while the store cannot be reached', 'ERR_STORE_UNAVAILABLE', 2 + 1],
] as const)('%s, the requests of a transaction are rejected, not tried', async (_case, code, expected) => {
  let calls = 0
  const outcomes = await applyTogether('a b c d e f', async () => {
    calls += 1
    throw new StoreError(code, 'no')
  })
  expect(outcomes).toMatchObject(Array(6).fill({ status: 'rejected', reason: { code } }))
  expect(calls).toBe(expected)
})

test('a full queue rejects at once, and accepts again when it is shorter', async () => {
  const { apply, running, end } = heldQueue()
  const all = Array.from({ length: maxQueuedUpdates + 2 }, (_, n) => apply(`u${n}`))
  await expect(apply('late')).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
  end(0)
  await vi.waitFor(() => expect(running).toHaveLength(3), 300_000)
  all.push(apply('later'))
  for (let n = 1; n < running.length; n += 1) {
    end(n)
    await vi.waitUntil(() => n + 1 < running.length || n * maxUpdatesPerCommit > maxQueuedUpdates, 300_000)
  }
  await Promise.all(all)
})

test('a conflict rejects its own update alone', async () => {
  const conflict = { status: 'rejected', reason: new UpdateConflictError('used') } as const
  const outcomes = await applyTogether('a b used c', async (updates) =>
    updates.map((one) => (one.id === 'used' ? conflict : fulfilled(one))),
  )
  const [a, b, c] = ['a', 'b', 'c'].map((id) => fulfilled(update(id)))
  expect(outcomes).toEqual([a, b, conflict, c].map((outcome) => ({ status: 'fulfilled', value: [outcome] })))
})

test('a receiver accepts a clock whose method needs its object, such as `performance`', async () => {
  const receive = createUpdateReceiver({ secrets: ['secret'], clock: performance })
  const body = Buffer.from(JSON.stringify(update('a')))
  const signature = await signDelivery({ secret: 'secret', timestamp: Math.floor(performance.now() / 1_000), body })
  expect(await receive({ body, signature })).toEqual({ kind: 'update', update: update('a') })
})
