/** One payment of the shop, with its order. @module */
import { createReceiver } from '@payment-integration/version-store'
import type { Snapshot } from '@payment-integration/webhook'
import { objectVersionStore } from './object-version-store.js'
import type { ObjectState, ObjectTransaction } from './platform.js'

/** What the shop knows about a payment. */
export interface Order {
  readonly state: Snapshot['state']
  /** How often the goods were released: once, whatever is delivered how often. */
  readonly releases: number
}

/** The Durable Object. It trusts its caller: only the Worker reaches it, with snapshots that are verified. */
export class PaymentObject {
  readonly #state: ObjectState
  readonly #accept: (snapshot: Snapshot) => Promise<unknown>

  constructor(state: ObjectState) {
    this.#state = state
    const { accept } = createReceiver({
      verify: async (snapshot: Snapshot) => ({ snapshot }),
      store: objectVersionStore(state.storage),
      handle: updateOrder,
    })
    this.#accept = accept
  }

  /** POST takes a snapshot, GET shows the order. */
  async fetch(request: Request): Promise<Response> {
    if (request.method === 'POST') {
      const decision = await this.#accept((await request.json()) as Snapshot)
      return Response.json({ decision })
    }
    return Response.json((await this.#state.storage.get<Order>('order')) ?? null)
  }
}

async function updateOrder({ state }: Snapshot, tx: ObjectTransaction): Promise<void> {
  const before = (await tx.get<Order>('order')) ?? { state: null, releases: 0 }
  const isNew = state === 'success' && before.state !== 'success'
  await tx.put<Order>('order', { state, releases: before.releases + (isNew ? 1 : 0) })
}
