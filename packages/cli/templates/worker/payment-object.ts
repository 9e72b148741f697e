/** A Durable Object for each payment: it stores the version and runs your effect, in one transaction. */
import { createReceiver, decideVersion, type VersionStore } from '@payment-integration/version-store'
import type { Snapshot } from '@payment-integration/webhook'

/** The used part of the storage of a Durable Object; `@cloudflare/workers-types` has the whole type. */
export interface ObjectTransaction {
  get<T>(key: string): Promise<T | undefined>
  put<T>(key: string, value: T): Promise<void>
}

/** The storage of a Durable Object. */
export interface ObjectStorage extends ObjectTransaction {
  transaction<T>(work: (transaction: ObjectTransaction) => Promise<T>): Promise<T>
}

/** The binding of a class of Durable Objects. */
export interface ObjectNamespace {
  idFromName(name: string): unknown
  get(id: unknown): { fetch(url: string, init?: RequestInit): Promise<Response> }
}

/**
 * Your effect. Its writes through `tx` commit together with the version, or not at all. A delivery proves no
 * sale: compare the payment with your own orders before you release goods.
 */
export async function storePayment(snapshot: Snapshot, tx: ObjectTransaction): Promise<void> {
  await tx.put('payment', snapshot)
}

/** The Durable Object. It trusts its caller: only the Worker reaches it, with verified snapshots. */
export class PaymentObject {
  readonly accept: (snapshot: Snapshot) => Promise<unknown>

  constructor({ storage }: { readonly storage: ObjectStorage }) {
    const { accept } = createReceiver({
      verify: async (snapshot: Snapshot) => ({ snapshot }),
      store: versionStore(storage),
      handle: storePayment,
    })
    this.accept = accept
  }

  async fetch(request: Request): Promise<Response> {
    const snapshot = (await request.json()) as Snapshot
    return Response.json({ decision: await this.accept(snapshot) })
  }
}

/** A version store over the storage of one payment's object. */
function versionStore(storage: ObjectStorage): VersionStore<ObjectTransaction> {
  let last: Promise<unknown> = Promise.resolve()
  return {
    advance({ version }, effect) {
      // One after another: while an effect waits for something outside the storage, the platform admits other requests.
      const run = last.then(() =>
        storage.transaction(async (tx) => {
          const decision = decideVersion(await tx.get<number>('version'), version)
          if (decision === 'apply') {
            await effect(tx)
            await tx.put('version', version)
          }
          return decision
        }),
      )
      last = run.catch(() => undefined)
      return run
    },
    current: () => storage.get<number>('version'),
  }
}
