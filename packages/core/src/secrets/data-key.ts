/** Seals data keys, each bound to its row. Source: docs/decisions/secrets.md. @module */
import type { SealedSecret } from '../ports/store-integrations.js'
import type { Random } from '../ports/world.js'
import type { MasterKey } from './master-key.js'
import { SealedSecretError } from './seal.js'
import { openSealed, type SealedPlace, sealText } from './seal-text.js'

/** Seals the data key of a purpose with the current master key. */
export function sealDataKey(
  keys: MasterKey,
  random: Pick<Random, 'bytes'>,
  purpose: string,
  dataKey: Uint8Array,
): SealedSecret {
  return sealText(keys, random, placeOf(purpose), dataKey)
}

/**
 * Opens the data key of a purpose.
 * @throws SealedSecretError `ERR_SECRET_UNREADABLE` when none of the master keys opens it.
 */
export function openDataKey(keys: MasterKey, purpose: string, sealed: SealedSecret): Uint8Array {
  const opened = openSealed(keys, placeOf(purpose), sealed)
  if (opened === null) throw new SealedSecretError(`The data key of ${purpose}`)
  return opened
}

function placeOf(purpose: string): SealedPlace {
  return { purpose: 'data-key', boundTo: `data_keys|${purpose}` }
}
