/** Collects attempts and settles many in one commit. See docs/decisions/settling.md. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { backoffMs } from '../internal/backoff.js'
import type { Clock } from '../ports/world.js'
import { type Attempted, deliveryFields } from './leased-delivery.js'
import { createSettleGroup, type SettleGroupDeps } from './settle-group.js'

/** Most attempts in one commit. */
export const maxPerCommit = 256

/** Most turns of the event loop that a commit waits for more attempts: milliseconds under load, one turn without. */
export const maxGatherTurns = 10

/** After this many milliseconds a commit is slow, and the next one begins beside it: well below a lease. */
export const slowCommitMs = 2_000

/** Most commits at the same time. */
export const maxParallelCommits = 4

/** Longest wait before a failed commit is tried again, in milliseconds: well below a lease. */
const retryCapMs = 1_000

/** The dependencies of a settler. */
export interface SettlerDeps extends SettleGroupDeps {
  readonly clock: Clock
  /** Called a turn of the event loop after a commit began: a store on this thread has finished by then. */
  readonly onCommitBegun: () => void
  /** Called after every commit, and after attempts were dropped. */
  readonly onSettled: () => void
}

/** Settles attempts in groups. */
export interface Settler {
  /** Queues an attempt for the next commit. */
  add(attempted: Attempted): void
  /** The number of unsettled attempts. */
  unsettled(): number
  /** Whether a commit is in progress or waits to be tried again. */
  isWriting(): boolean
  /** Resolves once every attempt is settled or dropped. Never rejects. */
  drained(): Promise<void>
}

/**
 * Builds a settler. A failed commit is tried again. After its lease an attempt is tried once more, since only the store
 * knows whether the lease was lost, and then dropped with a log line. While the store is unreachable nothing is
 * dropped, unless the settler is drained. Events are published after their commit.
 */
export function createSettler(deps: SettlerDeps): Settler {
  const { clock, random, logger, onCommitBegun, onSettled } = deps
  const settleGroup = createSettleGroup(deps)
  const queue: Attempted[] = []
  /** Commits in progress, with the number of their attempts. */
  const commits = new Map<Promise<void>, number>()
  let writer: Promise<void> | null = null
  /** Failed commits in a row. */
  let failures = 0
  let isDraining = false
  let onQueued = () => {}

  /** Settles a group and puts the rest back into the queue. Resolves whether there was no rest. */
  async function settle(group: readonly Attempted[]): Promise<boolean> {
    const triedAt = clock.now()
    const { unsettled, isUnreachable } = await settleGroup(group)
    const isRetried = ({ leaseEndsAt }: Attempted) => leaseEndsAt > triedAt || (isUnreachable && !isDraining)
    for (const attempted of unsettled)
      if (!isRetried(attempted))
        logger.error(deliveryFields(attempted.claim), 'attempt not settled within its lease; the delivery is due again')
    queue.unshift(...unsettled.filter(isRetried))
    return unsettled.length === 0
  }

  /** Resolves whether everything was settled; null when the commit is slow and other attempts are queued. */
  async function settleOrPass(group: readonly Attempted[]): Promise<boolean | null> {
    const startedAt = clock.now()
    const settling = settle(group)
    const done: Promise<void> = settling.then(() => {
      commits.delete(done)
    })
    commits.set(done, group.length)
    void nextTurn().then(onCommitBegun)
    const inTime = new AbortController()
    const queued = new Promise<void>((resolve) => {
      onQueued = resolve
      if (queue.length > 0) resolve()
    })
    const slow = queued.then(async () => {
      if (!inTime.signal.aborted) await clock.sleep(Math.max(0, startedAt + slowCommitMs - clock.now()), inTime.signal)
      return null
    })
    const result = await Promise.race([settling, slow])
    inTime.abort('settled in time')
    if (result === null) {
      logger.warn({ attempts: group.length }, 'slow commit; the next one begins beside it')
      void settling.then(() => {
        if (queue.length > 0) startWriter()
        onSettled()
      })
    }
    return result
  }

  /** Waits while each turn of the event loop brings more attempts: a commit costs about as much for few. */
  async function gather(): Promise<void> {
    await nextTurn()
    for (let turns = 0; turns < maxGatherTurns && queue.length < maxPerCommit; turns += 1) {
      const before = queue.length
      await nextTurn()
      if (queue.length === before) return
    }
  }

  async function write(): Promise<void> {
    while (queue.length > 0) {
      await gather()
      while (commits.size >= maxParallelCommits) await Promise.race(commits.keys())
      const isSettled = await settleOrPass(queue.splice(0, maxPerCommit))
      if (isSettled === false) {
        failures += 1
        await clock.sleep(Math.min(retryCapMs, backoffMs(failures, random.fraction())))
      } else failures = 0
      onSettled()
    }
    failures = 0
    writer = null
  }

  function startWriter(): void {
    writer ??= write()
  }

  return {
    add(attempted) {
      queue.push(attempted)
      onQueued()
      startWriter()
    },
    unsettled() {
      let count = queue.length
      for (const attempts of commits.values()) count += attempts
      return count
    },
    isWriting: () => commits.size > 0 || failures > 0,
    async drained() {
      isDraining = true
      while (writer !== null || commits.size > 0)
        await Promise.race([...(writer === null ? [] : [writer]), ...commits.keys()])
    },
  }
}
