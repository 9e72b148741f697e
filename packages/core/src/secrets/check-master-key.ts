/** Whether the master keys given are the ones that a database was written with. Source: DESIGN section 3 (secrets). @module */
import { CoreError } from '../errors.js'
import type { IntegrationStore } from '../ports/store-integrations.js'
import type { MasterKey } from './master-key.js'

/** Secrets of a database need a master key that was not given. Nothing can be signed or authenticated for their integrations. */
export class MasterKeyError extends CoreError {
  override readonly name = 'MasterKeyError'
  readonly code = 'ERR_MASTER_KEY_MISSING'
  readonly retryable = false
  /** Addresses of the integrations concerned. */
  readonly integrations: readonly string[]
  constructor(integrations: readonly string[]) {
    super(
      `The master key is not the one that the secrets of ${integrations.length} integration(s) were stored with, ` +
        `${integrations[0]} first. Give that key, or list it after the new one, separated by a comma.`,
    )
    this.integrations = integrations
  }
}

/**
 * Checks at the start what would otherwise show as a 401 for every call and a failed attempt for every delivery.
 * @throws MasterKeyError `ERR_MASTER_KEY_MISSING` when a stored secret needs a key that is not listed.
 */
export async function checkMasterKey(integrations: Pick<IntegrationStore, 'list'>, keys: MasterKey): Promise<void> {
  const concerned = (await integrations.list()).filter(
    ({ apiSecret, signingSecret }) =>
      keys.find(signingSecret.keyVersion) === undefined ||
      (apiSecret !== null && keys.find(apiSecret.keyVersion) === undefined),
  )
  if (concerned.length > 0) throw new MasterKeyError(concerned.map(({ address }) => address))
}
