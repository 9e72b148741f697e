/** Settles a group of attempts, and what of it can be settled where the whole cannot. Source: docs/decisions/fairness.md. @module */
import { StoreError } from '../errors.js'
import { describeError } from '../internal/describe-error.js'
import type { EndpointJudge } from '../ports/store-deliveries.js'
import type { Random } from '../ports/world.js'
import type { Attempted } from './attempt.js'
import { judgeEndpoint } from './endpoint-health.js'
import type { ReadBackDeps } from './read-back.js'
import { createReadBack } from './read-back.js'

/** What settling a group came to. */
export interface GroupOutcome {
  /** What is still to be settled. */
  readonly left: readonly Attempted[]
  /** Nothing of it was settled, since the store cannot be reached: nobody else could settle or claim it either. */
  readonly away: boolean
}

/** For how long the parts of a refused group are tried one by one, in milliseconds: a store that refuses each after seconds would take an hour. */
export const halvingMs = 15_000

/** What settling needs from outside. */
export interface SettleGroupDeps extends ReadBackDeps {
  readonly random: Pick<Random, 'fraction'>
}

/**
 * Builds the function that settles a group. It never rejects. A group that the store refuses is tried in halves, and these again, until what
 * cannot be settled is alone and the rest is written. That ends where the store cannot be reached for either half, where it is full for both and
 * for both halves of one of them, and after {@link halvingMs}: what is left then is tried as a whole again.
 */
export function createSettleGroup(deps: SettleGroupDeps): (group: readonly Attempted[]) => Promise<GroupOutcome> {
  const { store, clock, random, logger } = deps
  const told = createReadBack(deps)

  /** Resolves what is left, or the error that nothing was settled for. */
  async function settle(group: readonly Attempted[]): Promise<{ left: readonly Attempted[]; error: unknown }> {
    const fraction = random.fraction()
    const judge: EndpointJudge = (before, results) => judgeEndpoint(before, results, fraction)
    try {
      return { left: await told.settled(group, await store.deliveries.settle(group, judge)), error: null }
    } catch (error) {
      told.failed(group)
      return { left: group, error }
    }
  }

  /** @param isHalf - Whether the store was full for the group and for the other half beside it, the first of all halves. */
  async function inHalves(
    group: readonly Attempted[],
    cause: unknown,
    { endsAt, isFirst = false, isHalf = false }: { endsAt: number; isFirst?: boolean; isHalf?: boolean },
  ): Promise<GroupOutcome & { readonly full?: boolean }> {
    if (group.length === 1) return { left: group, away: isAway(cause) }
    if (clock.now() >= endsAt) return { left: group, away: false }
    const middle = Math.ceil(group.length / 2)
    const halves = [group.slice(0, middle), group.slice(middle)]
    const outcomes = []
    for (const half of halves) outcomes.push({ half, ...(await settle(half)) })
    if (outcomes.every(({ error }) => isAway(error))) return { left: group, away: true }
    const fullForBoth = outcomes.every(({ error }) => isFull(error))
    if (isHalf && fullForBoth) return { left: group, away: false, full: true }
    const left: Attempted[] = []
    let full = false
    for (const { half, error, left: own } of outcomes) {
      if (error === null || full) {
        left.push(...own)
        continue
      }
      const outcome = await inHalves(half, error, { endsAt, isHalf: isFirst && fullForBoth })
      left.push(...outcome.left)
      full = outcome.full ?? false
    }
    return { left, away: false }
  }

  return async (group) => {
    const endsAt = clock.now() + halvingMs
    const { left, error } = await settle(group)
    if (error === null) return { left, away: false }
    const outcome = await inHalves(group, error, { endsAt, isFirst: true })
    const attempts = outcome.left.length
    if (attempts > 0) logger.error({ error: describeError(error), attempts }, 'attempts not settled; trying again')
    return outcome
  }
}

const isAway = (error: unknown): boolean => error instanceof StoreError && error.code === 'ERR_STORE_UNAVAILABLE'

const isFull = (error: unknown): boolean => error instanceof StoreError && error.code === 'ERR_STORE_FULL'
