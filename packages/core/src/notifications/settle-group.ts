/** Settles a group of attempts, in halves where the store refuses it whole. See docs/decisions/settling.md. @module */
import { StoreError } from '../errors.js'
import { describeError } from '../internal/describe-error.js'
import type { EndpointJudge } from '../ports/store-deliveries.js'
import type { Random } from '../ports/world.js'
import { judgeEndpoint } from './endpoint-health.js'
import type { Attempted } from './leased-delivery.js'
import { createOutcomeReporter, type OutcomeReporterDeps } from './outcome-reporter.js'

/** The outcome of settling a group. */
export interface GroupOutcome {
  readonly unsettled: readonly Attempted[]
  /** The store cannot be reached, so nobody else can settle or claim these deliveries either. */
  readonly isUnreachable: boolean
}

/** Longest time to settle the halves of a refused group one by one, in milliseconds. */
export const halvingMs = 15_000

/** The dependencies of settling. */
export interface SettleGroupDeps extends OutcomeReporterDeps {
  readonly random: Pick<Random, 'fraction'>
  /** The longest block of an endpoint, in milliseconds. */
  readonly blockCapMs: number
}

/**
 * Builds the function that settles a group. It never rejects. Halving isolates the attempts that the store refuses and
 * settles the rest. It stops for a store that is unreachable or full, and after {@link halvingMs}.
 */
export function createSettleGroup(deps: SettleGroupDeps): (group: readonly Attempted[]) => Promise<GroupOutcome> {
  const { store, clock, random, logger, blockCapMs } = deps
  const reporter = createOutcomeReporter(deps)

  /** Resolves the unsettled attempts; with an error, nothing was settled. */
  async function settle(group: readonly Attempted[]): Promise<{ unsettled: readonly Attempted[]; error: unknown }> {
    const limits = { capMs: blockCapMs, fraction: random.fraction() }
    const judge: EndpointJudge = (before, results) => judgeEndpoint(before, results, limits)
    try {
      const settled = await store.deliveries.settle(group, judge)
      return { unsettled: await reporter.report(group, settled), error: null }
    } catch (error) {
      reporter.noteUnanswered(group)
      return { unsettled: group, error }
    }
  }

  /**
   * @param isWhole - Whether the group is the whole one, not a half.
   * @param bothHalvesFull - Whether the store was full for this half of the whole group, and for the other half.
   */
  async function settleHalves(
    group: readonly Attempted[],
    cause: unknown,
    {
      endsAt,
      isWhole = false,
      bothHalvesFull = false,
    }: { endsAt: number; isWhole?: boolean; bothHalvesFull?: boolean },
  ): Promise<GroupOutcome & { readonly isFull?: boolean }> {
    if (group.length === 1) return { unsettled: group, isUnreachable: isUnreachable(cause) }
    if (clock.now() >= endsAt) return { unsettled: group, isUnreachable: false }
    const middle = Math.ceil(group.length / 2)
    const halves = []
    for (const half of [group.slice(0, middle), group.slice(middle)]) halves.push({ half, ...(await settle(half)) })
    if (halves.every(({ error }) => isUnreachable(error))) return { unsettled: group, isUnreachable: true }
    const bothFull = halves.every(({ error }) => isFull(error))
    if (bothHalvesFull && bothFull) return { unsettled: group, isUnreachable: false, isFull: true }
    const unsettled: Attempted[] = []
    let storeIsFull = false
    for (const { half, error, unsettled: own } of halves) {
      if (error === null || storeIsFull) {
        unsettled.push(...own)
        continue
      }
      const outcome = await settleHalves(half, error, { endsAt, bothHalvesFull: isWhole && bothFull })
      unsettled.push(...outcome.unsettled)
      storeIsFull = outcome.isFull ?? false
    }
    return { unsettled, isUnreachable: false }
  }

  return async (group) => {
    const endsAt = clock.now() + halvingMs
    const { unsettled, error } = await settle(group)
    if (error === null) return { unsettled, isUnreachable: false }
    const outcome = await settleHalves(group, error, { endsAt, isWhole: true })
    const attempts = outcome.unsettled.length
    if (attempts > 0) logger.error({ error: describeError(error), attempts }, 'attempts not settled; trying again')
    return outcome
  }
}

const isUnreachable = (error: unknown): boolean => error instanceof StoreError && error.code === 'ERR_STORE_UNAVAILABLE'

const isFull = (error: unknown): boolean => error instanceof StoreError && error.code === 'ERR_STORE_FULL'
