/** The version store in a Durable Object: one object for each payment. @module */
import { decideVersion, type VersionStore } from '@payment-integration/version-store'
import type { ObjectStorage, ObjectTransaction } from './platform.js'

const versionKey = 'version'

/**
 * A version store over the storage of one payment's object. Effect and version are one transaction of the platform; an
 * object handles the deliveries of its payment alone.
 */
export function objectVersionStore(storage: ObjectStorage): VersionStore<ObjectTransaction> {
  let last: Promise<unknown> = Promise.resolve()
  return {
    advance({ version }, effect) {
      // An effect may wait for something outside the storage, and meanwhile the platform lets other requests in.
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
