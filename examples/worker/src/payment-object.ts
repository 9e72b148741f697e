/** A Durable Object for one payment and its order. @module */
import { compareAmounts, isAmount, parseAmount } from '@payment-integration/client/amounts'
import { createReceiver } from '@payment-integration/version-store'
import type { Snapshot } from '@payment-integration/webhook'
import { createObjectVersionStore } from './object-version-store.js'
import type { ObjectState, ObjectStorage, ObjectTransaction } from './platform.js'

/** An order of the shop. The invoice of its payment must match it. */
export interface Order {
  readonly id: string
  /** A decimal, as text: `12.50`. */
  readonly price: string
  readonly currency: string
}

/** A payment as the shop stores it. */
export interface Sale {
  readonly state: Snapshot['state']
  readonly invoice: Snapshot['invoice']
  /** Null until the shop attaches an order. */
  readonly order: Order | null
  /** Number of releases of the goods: never more than one. */
  readonly releases: number
}

/**
 * The Durable Object. It trusts its caller: only the Worker reaches it, with verified snapshots and the shop's orders.
 */
export class PaymentObject {
  readonly #storage: ObjectStorage
  readonly #accept: (snapshot: Snapshot) => Promise<unknown>

  constructor({ storage }: ObjectState) {
    this.#storage = storage
    const { accept } = createReceiver({
      verify: async (snapshot: Snapshot) => ({ snapshot }),
      store: createObjectVersionStore(storage),
      handle: ({ state, invoice }, tx: ObjectTransaction) => change(tx, { state, invoice }),
    })
    this.#accept = accept
  }

  /** POST stores a snapshot, PUT the order; GET shows the sale. */
  async fetch(request: Request): Promise<Response> {
    if (request.method === 'POST') {
      const decision = await this.#accept((await request.json()) as Snapshot)
      return Response.json({ decision })
    }
    if (request.method === 'PUT') return this.#attach((await request.json()) as Order)
    return Response.json((await this.#storage.get<Sale>('sale')) ?? null)
  }

  #attach({ id, price, currency }: Order): Promise<Response> {
    if (!isAmount(price)) return Promise.resolve(new Response('The price is no decimal text', { status: 400 }))
    return this.#storage.transaction(async (tx) => {
      const { order } = (await tx.get<Sale>('sale')) ?? {}
      if (order) {
        const isSame = order.id === id && order.price === price && order.currency === currency
        return new Response(null, { status: isSame ? 204 : 409 })
      }
      await change(tx, { order: { id, price, currency } })
      return new Response(null, { status: 204 })
    })
  }
}

/**
 * Stores a change, and releases the goods once a success matches the order, in either sequence.
 */
async function change(tx: ObjectTransaction, changes: Partial<Sale>): Promise<void> {
  const before = (await tx.get<Sale>('sale')) ?? { state: null, invoice: null, order: null, releases: 0 }
  const sale = { ...before, ...changes }
  const isDue = sale.releases === 0 && isPaid(sale)
  await tx.put<Sale>('sale', { ...sale, releases: sale.releases + (isDue ? 1 : 0) })
}

/** A delivery proves no sale: only a success with the exact price pays the order. */
function isPaid({ state, invoice, order }: Sale): boolean {
  if (state !== 'success' || invoice === null || order === null) return false
  const isExactPrice = compareAmounts(parseAmount(invoice.amount), parseAmount(order.price)) === 0
  return isExactPrice && invoice.currency === order.currency
}
