/** Commands of two tenants, the chains and the processor, as data that fast-check generates. */
import fc from 'fast-check'

export type Tenant = 'A' | 'B'

/** The caller's newest secret, the one before it, or the other tenant's newest. */
export type Credentials = 'newest' | 'previous' | 'other'

export const pools = { chains: [1, 10], hashes: 12, wallets: 3 } as const

const tenant = fc.constantFrom<Tenant[]>('A', 'B')
const chain = fc.constantFrom(0, 1)
const hash = fc.nat(pools.hashes - 1)
const wallet = fc.nat(pools.wallets - 1)
const anyWallet = fc.option(wallet, { freq: 2 })
const credentials = fc.constantFrom<Credentials[]>(...Array(6).fill('newest'), 'previous', 'previous', 'other')
const payment = fc.record({ of: fc.option(tenant, { freq: 8 }), sender: wallet, receiver: wallet })
const transaction = fc.record({ hash, payments: fc.array(payment, { minLength: 1, maxLength: 3 }) })
const state = fc.constantFrom('pending', 'success', 'failure', 'refund_pending', 'refund_success')

/** A command of a kind, with how often it is generated. */
type Fields<T> = { [N in keyof T]: fc.Arbitrary<T[N]> }
function weighted<K extends string, T extends object>(kind: K, weight: number, fields: Fields<T>) {
  return { weight, arbitrary: fc.record(fields).map((each) => ({ kind, ...(each as T) })) }
}

/** Any command; reading is the most frequent. Numbers choose from small pools. */
export const command = fc.oneof(
  weighted('mine', 4, { chain, transactions: fc.array(transaction, { maxLength: 4 }) }),
  weighted('reorganize', 1, { chain, depth: fc.integer({ min: 1, max: 3 }), laterMs: fc.constantFrom(0, 1, 2_500) }),
  // `of`: the integration that the processor names; null: none.
  weighted('update', 2, { chain, hash, of: fc.option(tenant), state, title: fc.constantFrom('Shop', 'Käse') }),
  weighted('rotate', 2, { of: tenant, graceMs: fc.constantFrom(0, 1_000) }),
  weighted('enable', 1, { of: tenant, enabled: fc.constantFrom(true, true, true, true, false) }),
  weighted('wait', 1, { ms: fc.constantFrom(1, 500, 1_000) }),
  weighted('list', 8, { by: tenant, wallet: anyWallet, limit: fc.constantFrom(1, 2, 3, 50), with: credentials }),
  weighted('walk', 8, {
    ...{ by: tenant, wallet: anyWallet, limit: fc.constantFrom(1, 2, 50), cursor: fc.nat() },
    cursorOf: fc.constantFrom<Tenant[]>('A', 'A', 'A', 'A', 'B'),
  }),
  weighted('get', 8, { by: tenant, wallet: anyWallet, hash, with: credentials }),
)

export type Command = typeof command extends fc.Arbitrary<infer T> ? T : never
/** A transaction with its payments, each naming a tenant or nobody. */
export type Transaction = typeof transaction extends fc.Arbitrary<infer T> ? T : never
