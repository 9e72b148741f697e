/** Whether the master keys given are the ones that a database was written with. Source: DESIGN section 3 (secrets). @module */
import { CoreError } from '../errors.js'
import type { IntegrationStore } from '../ports/store-integrations.js'
import type { LegacyKeyStore } from '../ports/store-legacy-keys.js'
import type { Clock } from '../ports/world.js'
import { systemClock } from '../world/system.js'
import type { MasterKey } from './master-key.js'

/**
 * Secrets of a database need a master key that was not given. Nothing can be signed or authenticated for their integrations,
 * and the legacy API keys open nothing.
 */
export class MasterKeyError extends CoreError {
  override readonly name = 'MasterKeyError'
  readonly code = 'ERR_MASTER_KEY_MISSING'
  readonly retryable = false
  /** Addresses of the integrations concerned. */
  readonly integrations: readonly string[]
  /** Ids of the legacy API keys concerned. */
  readonly legacyKeys: readonly string[]
  constructor(integrations: readonly string[], legacyKeys: readonly string[]) {
    super(
      `The master key is not the one that the secrets of ${integrations.length} integration(s) and ${legacyKeys.length} ` +
        `legacy API key(s) were stored with, ${integrations[0] ?? legacyKeys[0]} first. ` +
        'Give that key, or list it after the new one, separated by a comma.',
    )
    this.integrations = integrations
    this.legacyKeys = legacyKeys
  }
}

/** What holds secrets. */
export interface SecretStores {
  readonly integrations: Pick<IntegrationStore, 'list'>
  readonly legacyKeys: Pick<LegacyKeyStore, 'list'>
}

/**
 * Checks at the start what would otherwise show as a 401 for every call and a failed attempt for every delivery.
 * A revoked legacy API key needs no master key any more, nor does a previous API secret whose grace time is over.
 * @param clock - @default this machine's
 * @throws MasterKeyError `ERR_MASTER_KEY_MISSING` when a stored secret needs a key that is not listed.
 */
export async function checkMasterKey(
  store: SecretStores,
  keys: MasterKey,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<void> {
  const missing = (version: number) => keys.find(version) === undefined
  const integrations = (await store.integrations.list()).filter(
    ({ apiSecret, previousApiSecret: previous, signingSecret }) =>
      missing(signingSecret.keyVersion) ||
      (apiSecret !== null && missing(apiSecret.keyVersion)) ||
      (previous !== null && clock.now() < previous.until && missing(previous.keyVersion)),
  )
  const legacyKeys = (await store.legacyKeys.list()).filter(
    ({ secret, revokedAt }) => revokedAt === null && missing(secret.keyVersion),
  )
  if (integrations.length + legacyKeys.length === 0) return
  throw new MasterKeyError(
    integrations.map(({ address }) => address),
    legacyKeys.map(({ id }) => id),
  )
}
