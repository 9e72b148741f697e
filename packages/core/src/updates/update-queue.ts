/** Applies updates that arrive at the same time in one transaction. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import { StoreError } from '../errors.js'
import type { Store } from '../ports/store.js'
import type { UpdateOutcomes } from './apply-updates.js'

/** Most updates of one transaction. */
export const maxUpdatesPerCommit = 100
/** Most updates that wait for a transaction: some seconds of work. */
export const maxQueuedUpdates = 2_000
/** Transactions at once: one is filled while the other waits for the disk. */
const concurrency = 2
/** Failures after which a failed transaction's other requests are rejected too. */
const mostFailures = 2

/** The updates of one request. */
interface Queued {
  readonly updates: readonly ProcessorUpdate[]
  resolve(outcomes: UpdateOutcomes): void
  reject(error: unknown): void
}

/** Applies the updates of one request, at most {@link maxUpdatesPerCommit}, in their order and in one transaction. */
export type UpdateQueue = (updates: readonly ProcessorUpdate[]) => Promise<UpdateOutcomes>

/**
 * Builds a queue. A request is applied at once while fewer than two transactions run; the others wait for the next one,
 * together. So many requests share the cost of a commit.
 *
 * A shared transaction that fails because of one request, such as one whose payment is locked for too long, is repeated
 * for each request alone.
 * @param apply - Applies updates in one transaction.
 * @param assertNotNested - That of the store. The queue would hide a nested transaction from it: a request of a host's
 * own transaction could wait for one that waits for the host.
 * @throws StoreError `ERR_STORE_BUSY` at once when too many updates wait; else as the store does.
 * @throws TypeError As `assertNotNested` does.
 */
export function createUpdateQueue(apply: UpdateQueue, assertNotNested: Store['assertNotNested']): UpdateQueue {
  const queue: Queued[] = []
  let queued = 0
  let running = 0

  async function applyOne({ updates, resolve, reject }: Queued): Promise<unknown> {
    try {
      resolve(await apply(updates))
      return null
    } catch (error) {
      reject(error)
      return error
    }
  }

  async function applyTogether(requests: readonly Queued[]): Promise<void> {
    let from = 0
    try {
      const outcomes = await apply(requests.flatMap(({ updates }) => updates))
      for (const { updates, resolve } of requests) {
        resolve(outcomes.slice(from, from + updates.length))
        from += updates.length
      }
    } catch (error) {
      if (failsAll(error)) for (const { reject } of requests) reject(error)
      else await applyEach(requests)
    }
  }

  async function applyEach(requests: readonly Queued[]): Promise<void> {
    let failures = 0
    for (const request of requests) {
      if (failures >= mostFailures) request.reject(busy())
      else if ((await applyOne(request)) instanceof StoreError) failures += 1
    }
  }

  function take(): Queued[] {
    const taken: Queued[] = []
    let size = 0
    for (let [next] = queue; next !== undefined; [next] = queue) {
      if (taken.length > 0 && size + next.updates.length > maxUpdatesPerCommit) break
      size += next.updates.length
      taken.push(next)
      queue.shift()
    }
    queued -= size
    return taken
  }

  async function work(): Promise<void> {
    running += 1
    while (queue.length > 0) {
      const requests = take()
      const [only, ...others] = requests
      if (only !== undefined && others.length === 0) await applyOne(only)
      else await applyTogether(requests)
    }
    running -= 1
  }

  return async (updates) => {
    assertNotNested()
    if (queued + updates.length > maxQueuedUpdates) throw busy()
    return new Promise((resolve, reject) => {
      queue.push({ updates, resolve, reject })
      queued += updates.length
      if (running < concurrency) void work()
    })
  }
}

/** Whether every request would fail: the store cannot be reached, or is full. */
const failsAll = (error: unknown) => error instanceof StoreError && error.code !== 'ERR_STORE_BUSY'

const busy = () => new StoreError('ERR_STORE_BUSY', 'Updates wait too long for the database; try again.')
