/**
 * Checks at the start that no master key of the database is missing. Source: docs/decisions/secrets.md.
 * @module
 */
import { CoreError } from '../errors.js'
import type { Store } from '../ports/store.js'
import type { SealingKeyUse } from '../ports/store-sealing-keys.js'
import type { Clock } from '../ports/world.js'
import { systemClock } from '../world/system.js'
import type { MasterKey } from './master-key.js'

/** Stored secrets need a master key that is not configured: they can be neither opened nor compared. */
export class MasterKeyError extends CoreError {
  override readonly name = 'MasterKeyError'
  readonly code = 'ERR_MASTER_KEY_MISSING'
  readonly retryable = false
  /** The stored secrets without their key, by place and key. */
  readonly missing: readonly SealingKeyUse[]
  /** @param given - Versions of the configured keys. */
  constructor(missing: readonly SealingKeyUse[], given: readonly number[]) {
    const uses = missing.map(({ place, keyVersion, rows }) => `${place} (key ${keyVersion}, ${rows} row(s))`)
    super(
      `Master keys are missing: ${uses.join(', ')}. Given: key ${given.join(', key ')}. List each missing key behind the newest, separated by ` +
        'a comma, run `payment-integration secrets reseal` with both, and remove it when that command says so.',
    )
    this.missing = missing
  }
}

/**
 * Checks that every stored secret has its master key. Without it every call would be a 401, every delivery would fail,
 * and e-mail addresses would be lost.
 * @param clock - @default this machine's
 * @throws MasterKeyError `ERR_MASTER_KEY_MISSING` when a stored secret needs a key that is not listed.
 */
export async function checkMasterKey(
  store: Pick<Store, 'sealingKeys'>,
  keys: MasterKey,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<void> {
  const uses = await store.sealingKeys(clock.now())
  const missing = uses.filter(({ keyVersion }) => keys.find(keyVersion) === undefined)
  if (missing.length === 0) return
  throw new MasterKeyError(
    missing,
    keys.all.map(({ version }) => version),
  )
}
