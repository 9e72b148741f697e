import type { ProcessorUpdate } from '@payment-integration/contract'
import { applyUpdates, checkUpdate } from '../../src/payments/apply-updates.js'
import type { Store } from '../../src/ports/store.js'

/** Applies one update; throws when its id has other content. */
export async function applyUpdate(store: Pick<Store, 'transaction'>, update: ProcessorUpdate) {
  const { outcomes, events } = await applyUpdates(store, [checkUpdate(update)])
  const [outcome] = outcomes
  if (outcome?.status !== 'fulfilled') throw outcome?.reason
  return { result: outcome.value, events }
}
