/** Changes by this process count at once: what authentication kept is dropped as soon as they are over. @module */
import type { Store } from '../ports/store.js'
import type { Recent } from './recent.js'

/** Transactions that drop what was kept, also those whose outcome is not known. */
export function forgetAfterChanges(
  transaction: Store['transaction'],
  { forget }: Pick<Recent<unknown>, 'forget'>,
): Store['transaction'] {
  return (work) => transaction(work).finally(forget)
}
