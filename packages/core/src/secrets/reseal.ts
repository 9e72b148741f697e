/** Moves signing secrets to the newest master key. Source: DESIGN section 3 (secrets); docs/decisions/secrets.md. @module */
import type { Audited } from '../audit/audited.js'
import type { SecretHash } from '../ports/store-integrations.js'
import type { Clock, Random } from '../ports/world.js'
import type { Resealed } from '../service-types.js'
import type { MasterKey } from './master-key.js'
import { openSecret, sealSecret } from './seal.js'

/** What resealing needs. */
export interface ResealDeps {
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

/**
 * Seals every signing secret with the newest master key, all of them or none. Run again it changes nothing more.
 * @throws SealedSecretError `ERR_SECRET_UNREADABLE` when one needs a key that is not listed.
 */
export function resealSecrets({ audited, keys, clock, random }: ResealDeps): Promise<Resealed> {
  const isOlder = ({ keyVersion }: Pick<SecretHash, 'keyVersion'>) => keyVersion !== keys.current.version
  return audited(async (tx, note) => {
    const integrations = await tx.integrations.list()
    const olderSecrets = integrations.filter(({ signingSecret }) => isOlder(signingSecret))
    for (const { address, signingSecret } of olderSecrets) {
      const sealed = sealSecret(keys, random, address, openSecret(keys, address, signingSecret))
      await tx.integrations.update(address, { signingSecret: sealed })
    }
    const now = clock.now()
    const olderApiSecrets = integrations
      .filter(
        ({ apiSecret, previousApiSecret }) =>
          (apiSecret !== null && isOlder(apiSecret)) ||
          (previousApiSecret !== null && now < previousApiSecret.until && isOlder(previousApiSecret)),
      )
      .map(({ address }) => address)
    const legacyKeys = await tx.legacyKeys.list()
    const olderLegacyKeys = legacyKeys
      .filter(({ secret, revokedAt }) => revokedAt === null && isOlder(secret))
      .map(({ id }) => id)
    const resealed = olderSecrets.length
    note({ action: 'secrets.resealed', subject: 'all', details: { resealed, keyVersion: keys.current.version } })
    return { resealed, olderApiSecrets, olderLegacyKeys }
  })
}
