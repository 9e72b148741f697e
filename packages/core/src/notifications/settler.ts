/** Writes down what attempts came to, many in one commit. Source: docs/architecture.md; docs/decisions/fairness.md. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { backoffMs } from '../internal/backoff.js'
import type { Clock } from '../ports/world.js'
import type { Attempted } from './attempt.js'
import { namedDelivery } from './named-delivery.js'
import { createSettleGroup, type SettleGroupDeps } from './settle-group.js'

/** Most attempts in one commit. */
export const mostPerCommit = 256

/** Most turns of the event loop that a commit waits for more attempts: some milliseconds under load, and one turn without load. */
export const mostTurns = 10

/** How long a commit may take before the next one begins beside it, in milliseconds: well below a lease. */
export const settleWaitMs = 2_000

/** Most commits beside each other. */
export const mostBeside = 4

/** The longest wait before a commit that failed is tried again, in milliseconds: well below a lease. */
const retryCapMs = 1_000

/** What a settler needs from outside. */
export interface SettlerDeps extends SettleGroupDeps {
  readonly clock: Clock
  /** Called a turn of the event loop after a commit began: a store on this thread has finished by then. */
  readonly onWriting: () => void
  /** Called after every commit, and when attempts were given up. */
  readonly onSettled: () => void
}

/** Settles attempts in groups. */
export interface Settler {
  /** Takes an attempt; it is written together with what else came while the last commit ran. */
  add(attempted: Attempted): void
  /** How many are not settled yet. */
  waiting(): number
  /** Whether a commit is under way, or is to be tried again. */
  isWriting(): boolean
  /** Resolves once nothing waits. Never rejects. */
  drained(): Promise<void>
}

/**
 * Builds a settler. A commit that fails is tried again, without what alone keeps it from going through; one that is not answered keeps the
 * next ones waiting for {@link settleWaitMs} at most. An attempt whose lease is over by the clock of this process is tried once more, as the
 * store alone knows who holds the claim, and then dropped with a line in the log: its delivery comes back. While the store is away
 * nobody else can claim it, so it is not dropped then, unless the settler is drained. Events are published after their commit.
 */
export function createSettler(deps: SettlerDeps): Settler {
  const { clock, random, logger, onWriting, onSettled } = deps
  const settleGroup = createSettleGroup(deps)
  const queue: Attempted[] = []
  /** Groups that are being settled. */
  const running = new Map<Promise<void>, number>()
  let writer: Promise<void> | null = null
  /** Commits that failed in a row. */
  let failures = 0
  let draining = false
  let arrived = () => {}

  /** Settles a group and resolves whether all of it is settled; what is not goes back into the queue. */
  async function settle(group: readonly Attempted[]): Promise<boolean> {
    const triedAt = clock.now()
    const { left, away } = await settleGroup(group)
    const isKept = ({ leaseEndsAt }: Attempted) => leaseEndsAt > triedAt || (away && !draining)
    for (const attempted of left)
      if (!isKept(attempted))
        logger.error(namedDelivery(attempted.claim), 'attempt not settled within its lease; the delivery comes back')
    queue.unshift(...left.filter(isKept))
    return left.length === 0
  }

  /** Resolves null when a commit has taken too long while others wait, else whether it settled everything. */
  async function settleInTime(group: readonly Attempted[]): Promise<boolean | null> {
    const startedAt = clock.now()
    const settling = settle(group)
    const done: Promise<void> = settling.then(() => {
      running.delete(done)
    })
    running.set(done, group.length)
    void nextTurn().then(onWriting)
    const over = new AbortController()
    const somebodyWaits = new Promise<void>((resolve) => {
      arrived = resolve
      if (queue.length > 0) resolve()
    })
    const late = somebodyWaits.then(async () => {
      if (!over.signal.aborted) await clock.sleep(Math.max(0, startedAt + settleWaitMs - clock.now()), over.signal)
      return null
    })
    const inTime = await Promise.race([settling, late])
    over.abort('settled in time')
    if (inTime === null) {
      logger.warn({ attempts: group.length }, 'settling takes long; what came after it goes on beside it')
      void settling.then(() => {
        if (queue.length > 0) start()
        onSettled()
      })
    }
    return inTime
  }

  /** Waits to the end of this turn of the event loop, and on while each turn brings more: a commit costs about as much for few. */
  async function gather(): Promise<void> {
    await nextTurn()
    for (let turns = 0; turns < mostTurns && queue.length < mostPerCommit; turns += 1) {
      const before = queue.length
      await nextTurn()
      if (queue.length === before) return
    }
  }

  async function write(): Promise<void> {
    while (queue.length > 0) {
      await gather()
      while (running.size >= mostBeside) await Promise.race(running.keys())
      const settled = await settleInTime(queue.splice(0, mostPerCommit))
      if (settled === false) {
        failures += 1
        await clock.sleep(Math.min(retryCapMs, backoffMs(failures, random.fraction())))
      } else failures = 0
      onSettled()
    }
    failures = 0
    writer = null
  }

  function start(): void {
    writer ??= write()
  }

  return {
    add(attempted) {
      queue.push(attempted)
      arrived()
      start()
    },
    waiting() {
      let count = queue.length
      for (const attempts of running.values()) count += attempts
      return count
    },
    isWriting: () => running.size > 0 || failures > 0,
    async drained() {
      draining = true
      while (writer !== null || running.size > 0)
        await Promise.race([...(writer === null ? [] : [writer]), ...running.keys()])
    },
  }
}
