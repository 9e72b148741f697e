import { createMemoryVersionStore } from '@payment-integration/version-store'
import type { Snapshot } from '@payment-integration/webhook'
import { expectTypeOf, test } from 'vitest'
import {
  type Client,
  type Findings,
  type LegacyClient,
  type ListingStore,
  type Payment,
  type ReconcileStore,
  reconcile,
  type UnknownPayment,
} from '../exports/index.js'
import type { SeveralPayments, UnreadTransaction } from './findings.js'

declare const client: Client
interface Database {
  readonly run: (sql: string) => void
}
declare const store: ReconcileStore<Database>
declare const legacy: LegacyClient
declare const listing: ListingStore<Database>

test('a store that cannot list has no unknown payments, by its type', async () => {
  const found = await reconcile(client, { from: store, handle: () => undefined })
  expectTypeOf(found.unknown).toEqualTypeOf<null>()
  const all = await reconcile(client, { from: listing, handle: () => undefined, until: 'end' })
  expectTypeOf(all.unknown).toEqualTypeOf<Findings<UnknownPayment> | null>()
})

test('a client of the legacy API fits, and its findings are null without one', async () => {
  const found = await reconcile(client, { from: store, handle: () => undefined, legacy })
  expectTypeOf(found.severalPayments).toEqualTypeOf<Findings<SeveralPayments> | null>()
  expectTypeOf(found.unreadTransactions).toEqualTypeOf<Findings<UnreadTransaction> | null>()
  // @ts-expect-error a key is not a client
  void reconcile(client, { from: store, handle: () => undefined, legacy: 'pi_legacy_key' })
})

test('the handler gets the payment and the transaction of the store', () => {
  void reconcile(client, {
    from: store,
    handle(payment, tx) {
      expectTypeOf(payment).toEqualTypeOf<Payment>()
      expectTypeOf(tx).toEqualTypeOf<Database>()
    },
  })
})

test('the store and the handler of a receiver fit', () => {
  const handle = (snapshot: Snapshot, _tx: undefined): void => void snapshot.state
  void reconcile(client, { from: createMemoryVersionStore(), handle })
  // @ts-expect-error this handler expects another transaction type than the store has
  void reconcile(client, { from: store, handle: (_payment: Payment, _tx: { query(): void }) => undefined })
  // @ts-expect-error a store needs `current`
  void reconcile(client, { from: { advance: store.advance }, handle })
})
