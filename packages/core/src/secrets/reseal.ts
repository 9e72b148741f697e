/**
 * Reseals secrets with the newest master key. Source: docs/decisions/secrets.md.
 * @module
 */
import type { Audited } from '../audit/audited.js'
import type { Resealed } from '../integration-types.js'
import type { SealedSecret, SecretHash } from '../ports/store-integrations.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { Clock, Random } from '../ports/world.js'
import { openDataKey, sealDataKey } from './data-key.js'
import type { MasterKey } from './master-key.js'
import { openSecret, sealSecret } from './seal.js'

/** The dependencies of resealing. */
export interface ResealDeps {
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

/**
 * Seals every signing secret (also prepared and previous ones) and every data key with the newest master key, all or
 * none. Previous signing secrets past their grace time are deleted. A second run changes nothing.
 * @throws SealedSecretError `ERR_SECRET_UNREADABLE` when one needs a key that is not configured.
 */
export function resealSecrets({ audited, keys, clock, random }: ResealDeps): Promise<Resealed> {
  const isOlder = ({ keyVersion }: Pick<SecretHash, 'keyVersion'>) => keyVersion !== keys.current.version

  async function resealDataKeys({ dataKeys }: StoreTransaction): Promise<number> {
    const older = (await dataKeys.list()).filter(({ key }) => isOlder(key))
    for (const { purpose, key } of older)
      await dataKeys.replace(purpose, key, sealDataKey(keys, random, purpose, openDataKey(keys, purpose, key)))
    return older.length
  }

  return audited(async (tx, note) => {
    const integrations = await tx.integrations.list()
    const dataKeys = await resealDataKeys(tx)
    const now = clock.now()
    let resealed = 0
    const anew = (address: string, sealed: SealedSecret): SealedSecret => {
      resealed += 1
      return sealSecret(keys, random, address, openSecret(keys, address, sealed))
    }
    for (const record of integrations) {
      const { address, signingSecret, preparedSigningSecret: prepared, previousSigningSecret: previous } = record
      const change = {
        ...(isOlder(signingSecret) && { signingSecret: anew(address, signingSecret) }),
        ...(prepared !== null && isOlder(prepared) && { preparedSigningSecret: anew(address, prepared) }),
        ...(previous !== null && previous.until <= now
          ? { previousSigningSecret: null }
          : previous !== null &&
            isOlder(previous) && { previousSigningSecret: { ...anew(address, previous), until: previous.until } }),
      }
      if (Object.keys(change).length > 0) await tx.integrations.update(address, change)
    }
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
    const details = { resealed, dataKeys, keyVersion: keys.current.version }
    note({ action: 'secrets.resealed', subject: 'all', details })
    return { resealed, dataKeys, olderApiSecrets, olderLegacyKeys }
  })
}
