/** Commands of two tenants, the chains and the processor, as data that fast-check generates. */
import fc from 'fast-check'

export type Tenant = 'A' | 'B'

/** A transaction with its payments, each naming a tenant or nobody. Numbers choose from small pools. */
export interface Transaction {
  readonly hash: number
  readonly payments: readonly { readonly of: Tenant | null; readonly sender: number; readonly receiver: number }[]
}

export type Command =
  | { readonly kind: 'mine'; readonly chain: number; readonly transactions: readonly Transaction[] }
  | { readonly kind: 'reorganise'; readonly chain: number; readonly depth: number; readonly laterMs: number }
  | {
      readonly kind: 'update'
      readonly chain: number
      readonly hash: number
      /** The integration that the processor names; null: none. */
      readonly of: Tenant | null
      readonly state: string
      readonly title: string
    }
  | { readonly kind: 'rotate'; readonly of: Tenant; readonly graceMs: number }
  | { readonly kind: 'enable'; readonly of: Tenant; readonly enabled: boolean }
  | { readonly kind: 'wait'; readonly ms: number }
  | {
      readonly kind: 'list'
      readonly by: Tenant
      readonly wallet: number | null
      readonly limit: number
      readonly with: Credentials
    }
  | {
      readonly kind: 'walk'
      readonly by: Tenant
      readonly wallet: number | null
      readonly limit: number
      readonly cursorOf: Tenant
      readonly cursor: number
    }
  | {
      readonly kind: 'get'
      readonly by: Tenant
      readonly wallet: number | null
      readonly hash: number
      readonly with: Credentials
    }

/** The caller's newest secret, the one before it, or the other tenant's newest. */
export type Credentials = 'newest' | 'previous' | 'other'

export const pools = { chains: [1, 10], hashes: 12, wallets: 3 } as const

const tenant = fc.constantFrom<Tenant>('A', 'B')
const chain = fc.constantFrom(0, 1)
const hash = fc.nat(pools.hashes - 1)
const wallet = fc.nat(pools.wallets - 1)
const anyWallet = fc.option(wallet, { freq: 2 })
const credentials = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Credentials>('newest') },
  { weight: 2, arbitrary: fc.constant<Credentials>('previous') },
  { weight: 1, arbitrary: fc.constant<Credentials>('other') },
)
const payment = fc.record({ of: fc.option(tenant, { freq: 8 }), sender: wallet, receiver: wallet })
const transaction = fc.record({ hash, payments: fc.array(payment, { minLength: 1, maxLength: 3 }) })
const state = fc.constantFrom('pending', 'success', 'failure', 'refund_pending', 'refund_success')
const kind = <K extends Command['kind']>(name: K) => fc.constant(name)

/** Any command; reading is the most frequent. */
export const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: kind('mine'), chain, transactions: fc.array(transaction, { maxLength: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kind('reorganise'),
      chain,
      depth: fc.integer({ min: 1, max: 3 }),
      laterMs: fc.constantFrom(0, 1, 2_500),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: kind('update'),
      chain,
      hash,
      of: fc.option(tenant),
      state,
      title: fc.constantFrom('Shop', 'Käse'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('rotate'), of: tenant, graceMs: fc.constantFrom(0, 1_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: kind('enable'), of: tenant, enabled: fc.constantFrom(true, true, true, true, false) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('wait'), ms: fc.constantFrom(1, 500, 1_000) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: kind('list'),
      by: tenant,
      wallet: anyWallet,
      limit: fc.constantFrom(1, 2, 3, 50),
      with: credentials,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: kind('walk'),
      by: tenant,
      wallet: anyWallet,
      limit: fc.constantFrom(1, 2, 50),
      cursorOf: fc.oneof(
        { weight: 4, arbitrary: fc.constant<Tenant>('A') },
        { weight: 1, arbitrary: fc.constant<Tenant>('B') },
      ),
      cursor: fc.nat(),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: kind('get'), by: tenant, wallet: anyWallet, hash, with: credentials }) },
)
