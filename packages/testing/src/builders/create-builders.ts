/** Seeded builders for every shape of the contract. Source: docs/interface.md 2. @module */
import { type ShareResponse, shareResponseWriteSchema } from '@payment-integration/contract'
import { createFakeClock, type FakeClock } from '../fake-clock.js'
import { createDraws } from './draws.js'
import { createLegacyBuilders, type LegacyBuilders } from './legacy.js'
import { createPaymentBuilders, type PaymentBuilders } from './payments.js'

/** Options of builders. */
export interface BuilderOptions {
  /** The same seed builds the same values. @default 1 */
  readonly seed?: number | undefined
  /** The integration of the payments. @default drawn */
  readonly integrationAddress?: string | undefined
  /** Payments lie within the day before this time. @default a {@link createFakeClock} of its own */
  readonly clock?: Pick<FakeClock, 'now'> | undefined
}

/** Builders of one seed. */
export interface Builders extends PaymentBuilders, LegacyBuilders {
  /** A 20-byte address, lowercased. */
  address(): string
  /** A 32-byte hash, lowercased. */
  txHash(): string
  /** An answer of the share endpoint, by default `init` and just redeemed. */
  shareResponse(fields?: Partial<ShareResponse>): ShareResponse
  /** A share request, with an address of the reserved domain example.com. */
  shareRequest(fields?: Partial<{ email: string; kycShareToken: string }>): { email: string; kycShareToken: string }
}

/**
 * Makes builders. Their values pass the contract's write schemas, so a malformed field is an error of zod at once.
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
