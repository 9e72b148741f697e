/** Changes by this process count at once: what authentication kept is dropped as soon as they are over. @module */
import type { IntegrationStore } from '../ports/store-integrations.js'
import type { LegacyKeyStore } from '../ports/store-legacy-keys.js'
import type { Recent } from './recent.js'

/** The part of the store that commands about integrations use. */
export type ChangedIntegrations = Pick<IntegrationStore, 'find' | 'list' | 'insert' | 'update'>
/** The part of the store that commands about legacy keys use. */
export type ChangedLegacyKeys = Pick<LegacyKeyStore, 'insert' | 'revoke' | 'list'>

type Forgets = Pick<Recent<unknown>, 'forget'>

/** Integrations whose changes, also those whose outcome is not known, drop what was kept. */
export function forgetAfterIntegrationChanges(store: ChangedIntegrations, { forget }: Forgets): ChangedIntegrations {
  return {
    find: (address) => store.find(address),
    list: () => store.list(),
    insert: (record) => store.insert(record).finally(forget),
    update: (address, change, onlyIf) => store.update(address, change, onlyIf).finally(forget),
  }
}

/** The same for legacy keys. */
export function forgetAfterLegacyKeyChanges(store: ChangedLegacyKeys, { forget }: Forgets): ChangedLegacyKeys {
  return {
    list: () => store.list(),
    insert: (record) => store.insert(record).finally(forget),
    revoke: (id, at) => store.revoke(id, at).finally(forget),
  }
}
