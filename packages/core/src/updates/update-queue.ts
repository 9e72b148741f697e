/** Applies updates that arrive at the same time in one transaction. @module */
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import type { UpdateOutcomes } from './apply-updates.js'

/** Most updates of one transaction. */
export const maxUpdatesPerCommit = 100
/** Transactions at once: one is planned and filled while the other waits for the disk. */
const concurrency = 2

interface Waiting {
  readonly update: ProcessorUpdate
  settle(outcome: PromiseSettledResult<UpdateResult>): void
}

/**
 * Builds a queue. An update is applied at once while fewer than two transactions run; the others wait for the next one,
 * together. So a single update waits for nothing, and many share the cost of a commit.
 * @param apply - Applies up to {@link maxUpdatesPerCommit} updates in one transaction. When it rejects, each is applied
 * alone: the failure of one, such as a lock that is held too long, is not that of the others.
 */
export function createUpdateQueue(
  apply: (updates: readonly ProcessorUpdate[]) => Promise<UpdateOutcomes>,
): (update: ProcessorUpdate) => Promise<UpdateResult> {
  const waiting: Waiting[] = []
  let running = 0

  async function applyOne({ update, settle }: Waiting): Promise<void> {
    const [outcome] = await apply([update]).catch((reason: unknown) => [{ status: 'rejected', reason } as const])
    settle(outcome ?? { status: 'rejected', reason: new TypeError('The update has no outcome.') })
  }

  async function applyTogether(batch: readonly Waiting[]): Promise<void> {
    const outcomes = batch.length === 1 ? null : await apply(batch.map(({ update }) => update)).catch(() => null)
    if (outcomes === null) for (const each of batch) await applyOne(each)
    else for (const [place, outcome] of outcomes.entries()) batch[place]?.settle(outcome)
  }

  async function work(): Promise<void> {
    running += 1
    while (waiting.length > 0) await applyTogether(waiting.splice(0, maxUpdatesPerCommit))
    running -= 1
  }

  return (update) =>
    new Promise((resolve, reject) => {
      waiting.push({
        update,
        settle: (outcome) => (outcome.status === 'fulfilled' ? resolve(outcome.value) : reject(outcome.reason)),
      })
      if (running < concurrency) void work()
    })
}
