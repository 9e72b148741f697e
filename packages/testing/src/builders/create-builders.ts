/** Builders of every shape of the contract, seeded. Source: docs/interface.md 2. @module */
import { type ShareResponse, shareResponseWriteSchema } from '@payment-integration/contract'
import { createFakeClock, type FakeClock } from '../fake-clock.js'
import { createDraws } from './draws.js'
import { createLegacyBuilders, type LegacyBuilders } from './legacy.js'
import { createPaymentBuilders, type PaymentBuilders } from './payments.js'

/** What builders are made from. */
export interface BuilderOptions {
  /** The same seed builds the same. @default 1 */
  readonly seed?: number | undefined
  /** Whose payments are built. @default drawn */
  readonly integrationAddress?: string | undefined
  /** Payments lie within the day before it. @default a {@link createFakeClock} of its own */
  readonly clock?: Pick<FakeClock, 'now'> | undefined
}

/** Builders of one seed. */
export interface Builders extends PaymentBuilders, LegacyBuilders {
  /** A 20-byte address, lowercased. */
  address(): string
  /** A 32-byte hash, lowercased. */
  txHash(): string
  /** An answer of the share endpoint: `init`, just redeemed, unless you say otherwise. */
  shareResponse(fields?: Partial<ShareResponse>): ShareResponse
  /** A share request, with an address of the reserved domain example.com. */
  shareRequest(fields?: Partial<{ email: string; kycShareToken: string }>): { email: string; kycShareToken: string }
}

/**
 * Makes builders. What they give passes the contract's write schemas, so a field of a wrong form is an error of zod
 * where you give it.
 *
 * @throws {RangeError} When the seed is not a whole number from 0 to 4294967295.
 * @example const build = createBuilders({ seed: 7 }); build.payment({ state: 'success' })
 */
export function createBuilders(options: BuilderOptions = {}): Builders {
  const draws = createDraws(options.seed ?? 1)
  const { clock = createFakeClock(), integrationAddress = draws.hex(20) } = options
  return {
    ...createPaymentBuilders({ draws, clock, integrationAddress }),
    ...createLegacyBuilders(draws),
    address: () => draws.hex(20),
    txHash: () => draws.hex(32),
    shareResponse: (fields) =>
      shareResponseWriteSchema.parse({
        reviewStatus: 'init',
        reviewAnswer: null,
        rejectType: null,
        rejectLabels: [],
        reused: true,
        ...fields,
      }),
    shareRequest: (fields) => ({
      email: `user-${draws.whole(1, 999_999)}@example.com`,
      kycShareToken: `_act-${draws.hex(16).slice(2)}`,
      ...fields,
    }),
  }
}
