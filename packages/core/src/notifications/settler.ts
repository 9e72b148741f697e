/** Settles many attempts in one commit, and publishes their outcomes. See docs/decisions/retries.md. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StoreError } from '../errors.js'
import type { EventSink } from '../events.js'
import { computeBackoffMs, describeError } from '../internal/values.js'
import type { Clock, Logger, RandomSource } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import { pickDeliveryFields, type RecordedAttempt } from './attempt.js'
import type { AttemptRecord, EndpointJudge, EndpointTransition, SettledStatus, SettleResult } from './delivery-store.js'
import { judgeEndpoint } from './endpoint-health.js'

export interface SettlerDeps {
  readonly store: Pick<Store, 'deliveries'>
  readonly clock: Clock
  readonly random: Pick<RandomSource, 'fraction'>
  readonly logger: Logger
  /** Must not throw. */
  readonly publish: EventSink
  readonly maxBlockMs: number
  /** Called a turn of the event loop after a commit began: a store in this thread has finished by then. */
  readonly onCommitBegun: () => void
  /** Called after every commit, and after attempts were dropped. */
  readonly onSettled: () => void
}

/**
 * When a lease is lost after an unanswered settle, the attempt log shows whether that settle was committed. If so, its
 * events are published then, with those of its endpoint.
 */
function createOutcomeReporter({ store, clock, publish, logger }: SettlerDeps) {
  const unanswered = new WeakSet<RecordedAttempt>()
  /** Endpoints whose block was published, with the time of their first failure. */
  const blockedSince = new Map<string, number>()

  function publishTransition({ blockedUntil, failures, ...fields }: EndpointTransition): void {
    const { integrationAddress, failingMs } = fields
    if (blockedUntil === null) {
      blockedSince.delete(integrationAddress)
      publish({ type: 'endpoint.recovered', ...fields })
    } else {
      blockedSince.set(integrationAddress, clock.now() - failingMs)
      publish({ type: 'endpoint.failing', ...fields, failures, blockedUntil })
    }
  }

  /** Publishes the event of the rejected attempt, if any, then those of the settled attempt. */
  function publishAttempt(attempted: RecordedAttempt, outcome: SettledStatus): void {
    const { claim, rejected, attempt, verdict, publishedMs } = attempted
    const { attempt: firstNumber, ...delivery } = pickDeliveryFields(claim)
    const toFields = (number: number, { status, reason, latencyMs, replay }: AttemptRecord) =>
      ({ type: 'delivery.attempted', ...delivery, attempt: number, status, reason, latencyMs, replay }) as const
    if (rejected !== null)
      publish({ ...toFields(firstNumber, rejected), outcome: 'pending', publishedMs: null, retryInMs: 0 })
    publish({
      ...toFields(rejected === null ? firstNumber : firstNumber + 1, attempt),
      outcome,
      publishedMs: outcome === 'delivered' && !attempt.replay ? publishedMs : null,
      retryInMs: outcome === 'pending' && verdict.kind === 'retry' ? verdict.inMs : null,
    })
    if (outcome === 'exhausted') publish({ type: 'delivery.exhausted', ...delivery, reason: attempt.reason })
  }

  /** The delivery's status after an attempt that is in the log, else null. */
  async function findLoggedOutcome(attempted: RecordedAttempt): Promise<SettledStatus | null> {
    const { claim, rejected, attempt, verdict } = attempted
    const view = await store.deliveries.find(claim.deliveryId)
    const logged = view?.attempts[claim.attempt - 1 + (rejected === null ? 0 : 1)]
    const fields = ['startedAt', 'latencyMs', 'status', 'reason'] as const
    if (view === null || !fields.every((field) => logged?.[field] === attempt[field])) return null
    if (verdict.kind !== 'retry') return verdict.kind
    return view.status === 'superseded' ? 'superseded' : 'pending'
  }

  /** Publishes the blocks that began or ended in an unanswered commit. */
  async function compareEndpoints(addresses: ReadonlySet<string>): Promise<void> {
    for (const integrationAddress of addresses) {
      const view = await store.deliveries.endpoint(integrationAddress)
      const blockedUntil = (view?.blocks ?? 0) > 0 ? (view?.blockedUntil ?? null) : null
      const since = blockedSince.get(integrationAddress)
      if ((blockedUntil !== null) === (since !== undefined)) continue
      const failingMs = Math.max(0, clock.now() - (since ?? view?.failingSince ?? clock.now()))
      publishTransition({ integrationAddress, failures: view?.failures ?? 0, blockedUntil, failingMs })
    }
  }

  /** Publishes attempts with a lost lease that are in the log. Resolves those that could not be read. */
  async function reportLost(lost: readonly RecordedAttempt[]) {
    const unread: RecordedAttempt[] = []
    const endpoints = new Set<string>()
    for (const attempted of lost)
      try {
        const outcome = unanswered.has(attempted) ? await findLoggedOutcome(attempted) : null
        if (outcome === null)
          logger.warn(pickDeliveryFields(attempted.claim), 'lease lost before the attempt was settled')
        else {
          publishAttempt(attempted, outcome)
          if (attempted.countsForHealth) endpoints.add(attempted.claim.integrationAddress)
        }
      } catch (error) {
        logger.error({ error: describeError(error), attempts: 1 }, 'attempts not read back; trying again')
        unread.push(attempted)
      }
    await compareEndpoints(endpoints).catch((error: unknown) =>
      logger.error({ error: describeError(error) }, 'endpoints not read back'),
    )
    return unread
  }

  return {
    /** Notes that a settle failed or was not answered; it may have been committed. */
    noteUnanswered(group: readonly RecordedAttempt[]): void {
      for (const attempted of group) unanswered.add(attempted)
    },
    /** Publishes the events of a settled group. Resolves the attempts that must be settled again. */
    async report(group: readonly RecordedAttempt[], { statuses, transitions }: SettleResult) {
      const locked: RecordedAttempt[] = []
      const lost: RecordedAttempt[] = []
      for (const [index, attempted] of group.entries()) {
        const status = statuses[index] ?? null
        if (status === 'locked') locked.push(attempted)
        else if (status !== null) publishAttempt(attempted, status)
        else lost.push(attempted)
      }
      transitions.forEach(publishTransition)
      return [...locked, ...(await reportLost(lost))]
    },
  }
}

interface GroupOutcome {
  readonly unsettled: readonly RecordedAttempt[]
  /** The store is unreachable, so no other process can settle or claim these deliveries. */
  readonly isUnreachable: boolean
  /** The store reported that it is full for all four quarters of a group. */
  readonly isFull?: boolean
}

/** The longest time to settle the halves of a rejected group, in milliseconds. */
export const maxHalvingMs = 15_000

/**
 * Builds the function that settles a group. It never rejects. Halving isolates rejected attempts; it stops for an
 * unreachable or full store, and after {@link maxHalvingMs}.
 */
function createSettleGroup(deps: SettlerDeps): (group: readonly RecordedAttempt[]) => Promise<GroupOutcome> {
  const { store, clock, random, logger, maxBlockMs } = deps
  const reporter = createOutcomeReporter(deps)

  /** Resolves the unsettled attempts: after an error the whole group, though the commit may have succeeded. */
  async function settle(group: readonly RecordedAttempt[]) {
    const limits = { capMs: maxBlockMs, fraction: random.fraction() }
    const judge: EndpointJudge = (before, results) => judgeEndpoint(before, results, limits)
    try {
      return { unsettled: await reporter.report(group, await store.deliveries.settle(group, judge)), error: null }
    } catch (error) {
      reporter.noteUnanswered(group)
      return { unsettled: group, error }
    }
  }

  /** `wasFull`: whether the store was full for both halves of the whole group; null: this is the whole group. */
  async function settleHalves(
    group: readonly RecordedAttempt[],
    cause: unknown,
    endsAt: number,
    wasFull: boolean | null = null,
  ): Promise<GroupOutcome> {
    if (group.length === 1) return { unsettled: group, isUnreachable: isStoreUnreachable(cause) }
    if (clock.now() >= endsAt) return { unsettled: group, isUnreachable: false }
    const middle = Math.ceil(group.length / 2)
    const halves = []
    for (const half of [group.slice(0, middle), group.slice(middle)]) halves.push({ half, ...(await settle(half)) })
    if (halves.every(({ error }) => isStoreUnreachable(error))) return { unsettled: group, isUnreachable: true }
    const bothFull = halves.every(({ error }) => isStoreFull(error))
    if (wasFull === true && bothFull) return { unsettled: group, isUnreachable: false, isFull: true }
    const unsettled: RecordedAttempt[] = []
    let storeIsFull = false
    for (const { half, error, unsettled: unsettledHalf } of halves) {
      if (error === null || storeIsFull) {
        unsettled.push(...unsettledHalf)
        continue
      }
      const outcome = await settleHalves(half, error, endsAt, wasFull === null && bothFull)
      unsettled.push(...outcome.unsettled)
      storeIsFull = outcome.isFull ?? false
    }
    return { unsettled, isUnreachable: false }
  }

  return async (group) => {
    const endsAt = clock.now() + maxHalvingMs
    const { unsettled, error } = await settle(group)
    if (error === null) return { unsettled, isUnreachable: false }
    const outcome = await settleHalves(group, error, endsAt)
    const attempts = outcome.unsettled.length
    if (attempts > 0) logger.error({ error: describeError(error), attempts }, 'attempts not settled; trying again')
    return outcome
  }
}

const isStoreUnreachable = (error: unknown) => error instanceof StoreError && error.code === 'ERR_STORE_UNAVAILABLE'
const isStoreFull = (error: unknown) => error instanceof StoreError && error.code === 'ERR_STORE_FULL'

export const maxPerCommit = 256
/** The most turns of the event loop that a commit waits for more attempts: milliseconds under load, else one turn. */
export const maxGatherTurns = 10
/** After this many milliseconds a commit is slow, and the next one begins in parallel: well below a lease. */
export const slowCommitMs = 2_000
export const maxParallelCommits = 4
/** Longest wait before a failed commit is tried again, in milliseconds: well below a lease. */
const maxRetryDelayMs = 1_000

/**
 * Builds a settler. A failed commit is retried. After the lease has ended, an attempt is settled once more, since only
 * the store knows whether the lease was lost; then it is dropped with a log line. While the store is unreachable
 * nothing is dropped, unless the settler is drained. Events are published after their commit.
 */
export function createSettler(deps: SettlerDeps) {
  const { clock, random, logger, onCommitBegun, onSettled } = deps
  const settleGroup = createSettleGroup(deps)
  const queue: RecordedAttempt[] = []
  /** Commits in progress, with the number of their attempts. */
  const commits = new Map<Promise<void>, number>()
  let writer: Promise<void> | null = null
  let failures = 0
  let isDraining = false
  let onQueued = () => {}

  /** Settles a group and queues its unsettled attempts again. Resolves whether all were settled. */
  async function settle(group: readonly RecordedAttempt[]): Promise<boolean> {
    const triedAt = clock.now()
    const { unsettled, isUnreachable } = await settleGroup(group)
    const isRetried = ({ leaseEndsAt }: RecordedAttempt) => leaseEndsAt > triedAt || (isUnreachable && !isDraining)
    for (const attempted of unsettled) {
      const fields = pickDeliveryFields(attempted.claim)
      if (!isRetried(attempted)) logger.error(fields, 'attempt not settled within its lease; the delivery is due again')
    }
    queue.unshift(...unsettled.filter(isRetried))
    return unsettled.length === 0
  }

  /** Resolves whether the whole group was settled; null: the commit is slow and other attempts are queued. */
  async function settleUnlessSlow(group: readonly RecordedAttempt[]): Promise<boolean | null> {
    const startedAt = clock.now()
    const settling = settle(group)
    const done: Promise<void> = settling.then(() => {
      commits.delete(done)
    })
    commits.set(done, group.length)
    void nextTurn().then(onCommitBegun)
    const timer = new AbortController()
    const queued = new Promise<void>((resolve) => {
      onQueued = resolve
      if (queue.length > 0) resolve()
    })
    const slow = queued.then(async () => {
      if (!timer.signal.aborted) await clock.sleep(Math.max(0, startedAt + slowCommitMs - clock.now()), timer.signal)
      return null
    })
    const result = await Promise.race([settling, slow])
    timer.abort('settled in time')
    if (result === null) {
      logger.warn({ attempts: group.length }, 'slow commit; the next one begins beside it')
      void settling.then(() => {
        if (queue.length > 0) writer ??= runWriter()
        onSettled()
      })
    }
    return result
  }

  /** Waits while each turn of the event loop brings more attempts: few attempts cost about as much as many. */
  async function gatherAttempts(): Promise<void> {
    await nextTurn()
    for (let turns = 0; turns < maxGatherTurns && queue.length < maxPerCommit; turns += 1) {
      const before = queue.length
      await nextTurn()
      if (queue.length === before) return
    }
  }

  async function runWriter(): Promise<void> {
    while (queue.length > 0) {
      await gatherAttempts()
      while (commits.size >= maxParallelCommits) await Promise.race(commits.keys())
      const isSettled = await settleUnlessSlow(queue.splice(0, maxPerCommit))
      if (isSettled === false) {
        failures += 1
        await clock.sleep(Math.min(maxRetryDelayMs, computeBackoffMs(failures, random.fraction())))
      } else failures = 0
      onSettled()
    }
    failures = 0
    writer = null
  }

  return {
    add(attempted: RecordedAttempt): void {
      queue.push(attempted)
      onQueued()
      writer ??= runWriter()
    },
    countUnsettled: () => [...commits.values()].reduce((sum, attempts) => sum + attempts, queue.length),
    /** Whether a commit is in progress or waits to be tried again. */
    isWriting: () => commits.size > 0 || failures > 0,
    /** Resolves once every attempt is settled or dropped. Never rejects. */
    async drain(): Promise<void> {
      isDraining = true
      while (writer !== null || commits.size > 0)
        await Promise.race([writer, ...commits.keys()].filter((each) => each !== null))
    },
  }
}
