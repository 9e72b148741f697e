/** The version store in a Durable Object: one object per payment. @module */
import { decideVersion, type VersionStore } from '@payment-integration/version-store'
import type { ObjectStorage, ObjectTransaction } from './platform.js'

const versionKey = 'version'

/**
 * A version store over the storage of one payment's object. Effect and version share one transaction of the platform;
 * an object handles only the deliveries of its payment.
 */
export function createObjectVersionStore(storage: ObjectStorage): VersionStore<ObjectTransaction> {
  let last: Promise<unknown> = Promise.resolve()
  return {
    advance({ version }, effect) {
      // While an effect waits for something outside the storage, the platform admits other requests: they queue here.
      const run = last.then(() =>
        storage.transaction(async (tx) => {
          const decision = decideVersion(await tx.get<number>(versionKey), version)
          if (decision === 'apply') {
            await effect(tx)
            await tx.put(versionKey, version)
          }
          return decision
        }),
      )
      last = run.catch(() => undefined)
      return run
    },
    current: () => storage.get<number>(versionKey),
  }
}
