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
 * cannot be settled is alone and the rest is written. That ends where the store cannot be reached for either half, and after
 * {@link halvingMs}: what is left then is tried as a whole again.
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

  async function inHalves(group: readonly Attempted[], cause: unknown, endsAt: number): Promise<GroupOutcome> {
    if (group.length === 1) return { left: group, away: isAway(cause) }
    if (clock.now() >= endsAt) return { left: group, away: false }
    const middle = Math.ceil(group.length / 2)
    const halves = [group.slice(0, middle), group.slice(middle)]
    const outcomes = []
    for (const half of halves) outcomes.push({ half, ...(await settle(half)) })
    if (outcomes.every(({ error }) => isAway(error))) return { left: group, away: true }
    const left: Attempted[] = []
    for (const { half, error, left: own } of outcomes)
      left.push(...(error === null ? own : (await inHalves(half, error, endsAt)).left))
    return { left, away: false }
  }

  return async (group) => {
    const endsAt = clock.now() + halvingMs
    const { left, error } = await settle(group)
    if (error === null) return { left, away: false }
    const outcome = await inHalves(group, error, endsAt)
    const attempts = outcome.left.length
    if (attempts > 0) logger.error({ error: describeError(error), attempts }, 'attempts not settled; trying again')
    return outcome
  }
}

const isAway = (error: unknown): boolean => error instanceof StoreError && error.code === 'ERR_STORE_UNAVAILABLE'
