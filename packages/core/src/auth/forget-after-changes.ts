/** Clears the authentication cache after changes by this process. @module */
import type { Store } from '../ports/store.js'
import type { Recent } from './recent.js'

/** Transactions that clear the cache, also after an unknown outcome. */
export function forgetAfterChanges(
  transaction: Store['transaction'],
  { forget }: Pick<Recent<unknown>, 'forget'>,
): Store['transaction'] {
  return (work) => transaction(work).finally(forget)
}
