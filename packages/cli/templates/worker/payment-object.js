/** A Durable Object for each payment: it stores the version and runs your effect, in one transaction. */
import { createReceiver, decideVersion } from '@payment-integration/version-store'

/**
 * Your effect. What it writes through `tx` commits together with the version, or neither does. A delivery proves no
 * sale: compare the payment with your own orders before you release goods.
 */
export async function storePayment(snapshot, tx) {
  await tx.put('payment', snapshot)
}

/** The Durable Object. It trusts its caller: only the Worker reaches it, with verified snapshots. */
export class PaymentObject {
  accept

  constructor({ storage }) {
    const { accept } = createReceiver({
      verify: async (snapshot) => ({ snapshot }),
      store: versionStore(storage),
      handle: storePayment,
    })
    this.accept = accept
  }

  async fetch(request) {
    const snapshot = await request.json()
    return Response.json({ decision: await this.accept(snapshot) })
  }
}

/** A version store over the storage of one payment's object. */
function versionStore(storage) {
  let last = Promise.resolve()
  return {
    advance({ version }, effect) {
      // While an effect waits for something outside the storage, the platform admits other requests.
      const run = last.then(() =>
        storage.transaction(async (tx) => {
          const decision = decideVersion(await tx.get('version'), version)
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
    current: () => storage.get('version'),
  }
}
