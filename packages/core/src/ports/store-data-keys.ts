/** Keys that data is stored under, sealed with the master key. @module */
import type { SealedSecret } from './store-integrations.js'

/** One key for each purpose. */
export interface DataKeyStore {
  /** The key of a purpose as it is stored; where there is none, `candidate` is stored first. Of two at once, both get the same. */
  obtain(purpose: string, candidate: SealedSecret): Promise<SealedSecret>
  /** Stores a key sealed anew, unless it was replaced since. Resolves whether it was. */
  replace(purpose: string, before: SealedSecret, after: SealedSecret): Promise<boolean>
}
