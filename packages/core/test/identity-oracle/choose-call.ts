/** Chooses the next operation of a history. @module */
import type { Review } from '../../src/ports/identity.js'
import type { Dice } from './dice.js'
import type { Judge } from './judge/judge.js'
import type { Call, RedemptionView, WebhookEvent } from './system-under-test.js'
import type { World } from './world.js'

export type Plan = ReturnType<typeof plan>

/** How often each operation is chosen. */
const usual = { share: 42, register: 8, prove: 13, attest: 9, direct: 4, webhook: 12, poll: 10, operator: 3 } as const

/** What one history is about; a history is small, so that its operations meet. */
export function plan(dice: Dice) {
  const names = (prefix: string, count: number, suffix: string) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index + 1}${suffix}`)
  // Histories differ in what they do most, so that together they reach more.
  const weight = (kind: Call['kind']) => usual[kind] * dice.pick([0.3, 1, 3])
  return {
    addresses: names('user-', 2 + dice.below(3), '@example.com'),
    integrations: names('0x', 2 + dice.below(2), 'a'.repeat(39)),
    findsByName: dice.chance(0.75),
    faultRate: dice.pick([0, 0.1, 0.3, 0.6]),
    badTokens: dice.pick([0.05, 0.05, 0.3]),
    greenRate: dice.pick([0.2, 0.5, 0.8]),
    weights: {
      ...{ share: weight('share'), register: weight('register'), prove: weight('prove'), attest: weight('attest') },
      ...{ direct: weight('direct'), webhook: weight('webhook'), poll: weight('poll'), operator: weight('operator') },
    },
    moves: 80 + dice.below(140),
    operationsAtOnce: dice.pick([1, 1, 2, 4]),
    processes: 1 + dice.below(2),
  }
}

const verdicts: readonly Review[] = [
  { reviewStatus: 'completed', reviewAnswer: 'GREEN', rejectType: null, rejectLabels: [] },
  { reviewStatus: 'completed', reviewAnswer: 'RED', rejectType: 'FINAL', rejectLabels: ['FORGERY'] },
  { reviewStatus: 'pending', reviewAnswer: null, rejectType: null, rejectLabels: [] },
]

/** A call that makes sense in the present view; null when the kind chosen does not. */
export function chooseCall(world: World, judge: Judge, dice: Dice, plan: Plan): Call | null {
  const { addresses, integrations, weights } = plan
  const { view } = judge
  const now = world.clock.now()
  const address = dice.pick(addresses)
  const donor = view.subjects.find((subject) => subject.address === address && !subject.closed)?.donor ?? null
  const integration = donor !== null && dice.chance(0.4) ? donor : dice.pick(integrations)
  const accountIds = view.accounts.map(({ accountId }) => accountId)
  const anAccount = accountIds.length > 0 && dice.chance(0.6) ? dice.pick(accountIds) : undefined
  const isDoubtful = view.redemptions.some((redemption) => isExpired(redemption, now))
  const kind = dice.weighted({ ...weights, operator: weights.operator * (isDoubtful ? 6 : 1) })
  switch (kind) {
    case 'register':
      return { kind, address }
    case 'prove':
      return { kind, address, accountId: anAccount }
    case 'attest':
      return { kind, address, integration, accountId: anAccount }
    case 'direct': {
      if (accountIds.length === 0) return null
      const applicantId = dice.chance(0.5) ? `own-${dice.below(3)}` : null
      const at = now - dice.below(600_000)
      return { kind, direct: { accountId: dice.pick(accountIds), applicantId, review: dice.pick(verdicts), at } }
    }
    case 'share': {
      const earlier = world.operations.flatMap(({ call }) => (call.kind === 'share' ? [call.request.token] : []))
      const isReused = earlier.length > 0 && dice.chance(0.12)
      const token = isReused ? dice.pick(earlier.slice(-4)) : world.provider.mint(dice.chance(plan.badTokens))
      return { kind, request: { integration, address, token } }
    }
    case 'webhook':
      return chooseWebhook(world, judge, dice)
    case 'poll':
      return { kind }
    case 'operator':
      return chooseWord(world, judge, dice)
  }
}

/** Any event: late, out of order or again; an event that counted may come again with a new date. */
function chooseWebhook(world: World, judge: Judge, dice: Dice): Call | null {
  const { events } = world.provider
  if (events.length === 0) return null
  const event: WebhookEvent = dice.chance(0.6) ? dice.pick(events.slice(-2)) : dice.pick(events)
  if (!judge.hasCounted(event) || dice.chance(0.5)) return { kind: 'webhook', event }
  return { kind: 'webhook', event: { ...event, at: world.clock.now() } }
}

const isExpired = ({ state, leaseUntil }: RedemptionView, now: number) =>
  (state === 'in_flight' || state === 'unknown' || state === 'unresolved') && (leaseUntil ?? 0) < now

/** Mostly the truth. Now and then it is wrong: the token was redeemed, and the operator says that it was not. */
function chooseWord(world: World, judge: Judge, dice: Dice): Call | null {
  const { redemptions } = judge.view
  if (redemptions.length === 0) return null
  const now = world.clock.now()
  const doubtful = redemptions.filter((redemption) => isExpired(redemption, now))
  const { externalUserId, leaseUntil } = dice.pick(doubtful.length > 0 && dice.chance(0.9) ? doubtful : redemptions)
  const truth = world.provider.applicants.get(externalUserId)?.applicantId ?? null
  const applicantId = dice.chance(0.5) ? null : truth
  const mayLand = world.provider.canStillLand(externalUserId) || (leaseUntil ?? 0) > now
  return truth === null && mayLand ? null : { kind: 'operator', externalUserId, applicantId }
}
