/** Seeded builders for every shape of the contract, and the clock of a test. Source: docs/interface.md 2. @module */
import {
  type InvoiceBody,
  type Lookup,
  type PageBody,
  type PaymentBody,
  paymentStates,
  type RecipientBody,
  type ShareResponse,
  type SnapshotBody,
  type VerificationError,
  type VerifyResponse,
} from '@payment-integration/contract'
import {
  lookupWriteSchema,
  pageWriteSchema,
  paymentWriteSchema,
  shareResponseWriteSchema,
  snapshotWriteSchema,
  verifyResponseWriteSchema,
} from '@payment-integration/contract/internal'

/** A clock that a test moves. Its functions need no `this`. */
export type FakeClock = Readonly<ReturnType<typeof createFakeClock>>

/** 2025-01-01T00:00:00Z */
export const fakeClockStart = Date.UTC(2025, 0, 1)

/**
 * Creates a clock that moves only when a test moves it.
 * @param start - Milliseconds since the epoch. @default 2025-01-01T00:00:00Z
 * @throws {RangeError} When `start` is not a whole number.
 * @example
 * import { createFakeClock } from '@payment-integration/testing'
 * import { createVerifier } from '@payment-integration/webhook'
 * const clock = createFakeClock()
 * const { verify } = createVerifier({ secrets: 'whsec_test', clock })
 * clock.advance(301_000) // a delivery that was signed before is now stale
 */
export function createFakeClock(start: number = fakeClockStart) {
  let at = toWholeMs(start)
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>()
  function set(ms: number): void {
    at = toWholeMs(ms)
    const expired = [...sleepers].filter(({ until }) => until <= at).sort((a, b) => a.until - b.until)
    for (const { wake } of expired) wake()
  }
  return {
    /** Milliseconds since the epoch. */
    now: () => at,
    /** Resolves once the clock has advanced by `ms`, or the signal aborts. */
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
      if (ms <= 0 || signal?.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const sleeper = {
          until: at + ms,
          wake() {
            sleepers.delete(sleeper)
            signal?.removeEventListener('abort', sleeper.wake)
            resolve()
          },
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', sleeper.wake, { once: true })
      })
    },
    /** Moves forward. @throws {RangeError} When `ms` is not a whole number, 0 or more. */
    advance(ms: number): void {
      if (toWholeMs(ms) < 0) throw new RangeError(`advance got ${ms}; use set to go back.`)
      set(at + ms)
    },
    /** Jumps to a time, earlier or later. @throws {RangeError} When `ms` is not a whole number. */
    set,
  }
}

function toWholeMs(ms: number): number {
  if (Number.isSafeInteger(ms)) return ms
  throw new RangeError(`The clock got ${ms}; pass a whole number of milliseconds.`)
}

export interface Draws {
  integer(min: number, max: number): number
  pick<const List extends readonly [unknown, ...unknown[]]>(list: List): List[number]
  /** `0x` and the given number of bytes as lowercase hex digits. */
  hex(bytes: number): string
}

/** Creates a seeded source of random values. @throws {RangeError} Unless the seed is a whole number below 2^32. */
export function createDraws(seed: number): Draws {
  if (!Number.isInteger(seed) || seed < 0 || seed > 0xffff_ffff)
    throw new RangeError(`seed is ${seed}; pass a whole number from 0 to 4294967295.`)
  let state = seed
  /** SplitMix32, by which even neighboring seeds give different sequences. */
  const next = () => {
    state = (state + 0x9e37_79b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0_aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
  const integer = (min: number, max: number) => min + (next() % (max - min + 1))
  return {
    integer,
    pick: (list) => list[integer(0, list.length - 1)] ?? list[0],
    hex: (bytes) => `0x${Array.from({ length: bytes }, () => integer(0, 255).toString(16).padStart(2, '0')).join('')}`,
  }
}

const tokens = [
  { symbol: 'USDC', digits: 6 },
  { symbol: 'DAI', digits: 18 },
  { symbol: 'USDT', digits: 6 },
] as const
/** One chain for each finality in docs/interface.md 8. */
const chains = ['1', '10', '100', '137', '42161'] as const
const merchants = ['Example Coffee', 'Corner Books', 'North Bakery'] as const
const currencies = ['EUR', 'USD', 'CHF'] as const
const minuteMs = 60_000

function createPaymentBuilders(draws: Draws, clock: Pick<FakeClock, 'now'>, integrationAddress: string) {
  /** A decimal of at least 0.01, with at most `digits` decimals. */
  const amount = (digits: number) => {
    const fraction = String(draws.integer(1, 99)).padStart(2, '0')
    return `${draws.integer(0, 500)}.${fraction}${digits > 2 ? String(draws.integer(1, 9)).padStart(digits - 2, '0') : ''}`
  }
  const recipient = (fields: Partial<RecipientBody> = {}): RecipientBody => ({
    title: draws.pick(merchants),
    subtitle: draws.pick([null, 'Main street']),
    ...fields,
  })
  const invoice = (fields: Partial<InvoiceBody> = {}): InvoiceBody => ({
    amount: amount(2),
    currency: draws.pick(currencies),
    settlementAmount: amount(2),
    settlementCurrency: 'USD',
    ...fields,
  })
  const snapshot = (fields: Partial<SnapshotBody> = {}): SnapshotBody =>
    snapshotWriteSchema.parse({
      integrationAddress,
      chainId: draws.pick(chains),
      txHash: draws.hex(32),
      version: 1,
      state: draws.pick([null, ...paymentStates]),
      recipient: draws.pick([recipient(), null]),
      invoice: draws.pick([invoice(), null]),
      ...fields,
    })
  const payment = (fields: Partial<PaymentBody> = {}): PaymentBody => {
    const { symbol, digits } = draws.pick(tokens)
    const gross = amount(digits)
    const snapshotFields = snapshot()
    return paymentWriteSchema.parse({
      ...snapshotFields,
      sender: draws.hex(20),
      receiver: draws.hex(20),
      memo: `order-${draws.integer(1_000, 9_999)}`,
      // Whole minutes of the last day, so that lists have an order and some neighbors share a time.
      blockTimestamp: new Date(clock.now() - draws.integer(1, 1_440) * minuteMs).toISOString(),
      source: { chainId: fields.chainId ?? snapshotFields.chainId, txHash: fields.txHash ?? snapshotFields.txHash },
      tokenIn: { address: draws.hex(20), symbol, amount: gross },
      tokenOut: { address: draws.hex(20), symbol, amountGross: gross, amountNet: gross },
      ...fields,
    })
  }
  return {
    payment,
    snapshot,
    recipient,
    invoice,
    /** A page of payments, newest first. @param payments - The payments, or their number. */
    page(payments: number | readonly PaymentBody[] = 3, nextCursor: string | null = null): PageBody {
      const list = typeof payments === 'number' ? Array.from({ length: payments }, () => payment()) : payments
      return pageWriteSchema.parse({ payments: list.toSorted(compareNewestFirst), nextCursor })
    },
  }
}

/** The order of every list: block time, chain id and hash, descending. Source: docs/interface.md 4.1. */
function compareNewestFirst(a: PaymentBody, b: PaymentBody): number {
  const gap = Date.parse(b.blockTimestamp) - Date.parse(a.blockTimestamp) || Number(b.chainId) - Number(a.chainId)
  if (gap !== 0) return gap
  return a.txHash < b.txHash ? 1 : a.txHash > b.txHash ? -1 : 0
}

type LookupItem = Lookup['payments'][number]

const decimals = 6

function createLegacyBuilders(draws: Draws) {
  const units = (value: number) => ({
    formatted: `${Math.floor(value / 10 ** decimals)}.${String(value % 10 ** decimals).padStart(decimals, '0')}`,
    value: String(value),
  })
  const lookupItem = (fields: Partial<LookupItem> = {}): LookupItem => {
    const gross = draws.integer(1_000_000, 500_000_000)
    const fee = Math.floor(gross / 200)
    return {
      memo: `order-${draws.integer(1_000, 9_999)}`,
      receiver: draws.hex(20),
      tokenSymbol: 'USDC',
      tokenAmount: units(gross),
      tokenAmountNet: units(gross - fee),
      totalFees: units(fee),
      fees: [{ type: 'ServiceFee', ...units(fee) }],
      invoiceAmount: units(gross).formatted,
      invoiceCurrency: 'USD',
      conversion: '',
      priceFeeds: [],
      final: true,
      ...fields,
    }
  }
  const lookup = (fields: Partial<Lookup> = {}): Lookup =>
    lookupWriteSchema.parse({ chainId: 137, txHash: draws.hex(32), payments: [lookupItem()], ...fields })
  return {
    /** One payment of a transaction. */
    lookupItem,
    /** The answer of a look-up, by default with one payment. */
    lookup,
    /** The answer to a verification of the look-up: verified, or failed for the given reasons. */
    verify: (given: Lookup = lookup(), reasons: readonly VerificationError[] = []): VerifyResponse =>
      verifyResponseWriteSchema.parse({
        ...given,
        payments: given.payments.map((payment) => ({
          ...payment,
          verified: reasons.length === 0,
          verificationErrors: reasons,
        })),
      }),
  }
}

/** Options of builders. */
export interface BuilderOptions {
  /** The same seed builds the same values. @default 1 */
  readonly seed?: number | undefined
  /** The integration of the payments. @default drawn */
  readonly integrationAddress?: string | undefined
  /** The clock; payments lie within the day before. @default a new {@link createFakeClock} */
  readonly clock?: Pick<FakeClock, 'now'> | undefined
}

/** Builders of one seed. Each call draws new values, which given fields replace. */
export type Builders = ReturnType<typeof createBuilders>

/**
 * Creates builders of every shape of the contract. Snapshots, payments, pages, look-ups, verifications and share
 * responses are checked by the write schemas of the contract: a malformed field is an error of zod at once.
 * @throws {RangeError} When the seed is not a whole number from 0 to 4294967295.
 * @example
 * import { createBuilders } from '@payment-integration/testing'
 * const { payment, snapshot } = createBuilders({ seed: 7 })
 * console.log(payment({ state: 'success' }), snapshot())
 */
export function createBuilders(options: BuilderOptions = {}) {
  const draws = createDraws(options.seed ?? 1)
  const { clock = createFakeClock(), integrationAddress = draws.hex(20) } = options
  return {
    ...createPaymentBuilders(draws, clock, integrationAddress),
    ...createLegacyBuilders(draws),
    /** A 20-byte address, lowercased. */
    address: () => draws.hex(20),
    /** A 32-byte hash, lowercased. */
    txHash: () => draws.hex(32),
    /** An answer of the share endpoint; by default the state is `init`, and the token was just redeemed. */
    shareResponse: (fields?: Partial<ShareResponse>): ShareResponse =>
      shareResponseWriteSchema.parse({
        reviewStatus: 'init',
        reviewAnswer: null,
        rejectType: null,
        rejectLabels: [],
        reused: true,
        ...fields,
      }),
    /** A share request, with an e-mail address of the reserved domain example.com. */
    shareRequest: (fields?: Partial<{ email: string; kycShareToken: string }>) => ({
      email: `user-${draws.integer(1, 999_999)}@example.com`,
      kycShareToken: `_act-${draws.hex(16).slice(2)}`,
      ...fields,
    }),
  }
}
