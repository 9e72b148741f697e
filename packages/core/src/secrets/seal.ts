/** Seals secrets and data keys with AES-256-GCM. Source: docs/decisions/secrets.md. @module */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { CodedError } from '../errors.js'
import { type Clock, type RandomSource, systemClock } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import type { KeyPurpose, MasterKey, SealedSecret, SealingKeyUse } from './keys.js'

type Random = Pick<RandomSource, 'bytes'>

const nonceBytes = 12
const tagBytes = 16

/** The purpose and the place of sealed text. The text opens only with the same two. */
export interface SealedPlace {
  readonly purpose: KeyPurpose
  /** Table, column and row; never changes. */
  readonly boundTo: string
}

/** Seals text, or bytes, with the current master key. */
export function sealText(
  keys: MasterKey,
  random: Random,
  { purpose, boundTo }: SealedPlace,
  text: string | Uint8Array,
): SealedSecret {
  const { version } = keys.current
  const nonce = random.bytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', keys.current.derive(purpose), nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(`${boundTo}|${version}`, 'utf8'))
  const sealed = Buffer.concat([nonce, cipher.update(Buffer.from(text)), cipher.final(), cipher.getAuthTag()])
  return { keyVersion: version, sealed: sealed.toString('base64url') }
}

/** Opens sealed text. Null: its key is not configured, or it was altered or moved. */
export function openSealed(keys: MasterKey, { purpose, boundTo }: SealedPlace, { keyVersion, sealed }: SealedSecret) {
  const key = keys.find(keyVersion)
  const bytes = Buffer.from(sealed, 'base64url')
  if (key === undefined || bytes.length < nonceBytes + tagBytes) return null
  const decipher = createDecipheriv('aes-256-gcm', key.derive(purpose), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(`${boundTo}|${keyVersion}`, 'utf8'))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()])
  } catch {
    return null
  }
}

/** A sealed secret cannot be opened: its key is not configured, or the row was altered or moved. */
export class SealedSecretError extends CodedError<'ERR_SECRET_UNREADABLE'> {
  override readonly name = 'SealedSecretError'
  /** @param secretName - Names the secret at the beginning of the message. */
  constructor(secretName: string) {
    const advice = 'Add the key it was sealed with, or rotate the secret.'
    super('ERR_SECRET_UNREADABLE', `${secretName} cannot be opened with the master keys given. ${advice}`)
  }
}

const getDataKeyPlace = (purpose: string): SealedPlace => ({ purpose: 'data-key', boundTo: `data_keys|${purpose}` })

export function sealDataKey(keys: MasterKey, random: Random, purpose: string, dataKey: Uint8Array): SealedSecret {
  return sealText(keys, random, getDataKeyPlace(purpose), dataKey)
}

export function openDataKey(keys: MasterKey, purpose: string, sealed: SealedSecret): Uint8Array {
  const opened = openSealed(keys, getDataKeyPlace(purpose), sealed)
  if (opened === null) throw new SealedSecretError(`The data key of ${purpose}`)
  return opened
}

/** All signing secrets of an integration have one place, so that activating one needs no resealing. */
function getSecretPlace(address: string): SealedPlace {
  return { purpose: 'signing-secret', boundTo: `integrations.signing_secret|${address}` }
}

/** Seals a secret for one integration's row; moved to another row it does not open. */
export function sealSecret(keys: MasterKey, random: Random, address: string, secret: string): SealedSecret {
  return sealText(keys, random, getSecretPlace(address), secret)
}

export function openSecret(keys: MasterKey, address: string, sealed: SealedSecret, kind = 'signing secret'): string {
  const opened = openSealed(keys, getSecretPlace(address), sealed)
  // An empty secret signs nothing.
  if (opened === null || opened.length === 0) throw new SealedSecretError(`The ${kind} of integration ${address}`)
  return Buffer.from(opened).toString('utf8')
}

/** Stored secrets need a master key that is not configured: they can be neither opened nor compared. */
export class MasterKeyError extends CodedError<'ERR_MASTER_KEY_MISSING'> {
  override readonly name = 'MasterKeyError'
  /** The stored secrets without their key, by place and key. */
  readonly missing: readonly SealingKeyUse[]
  constructor(missing: readonly SealingKeyUse[], configured: MasterKey) {
    const given = configured.all.map(({ version }) => `key ${version}`)
    const uses = missing.map(({ place, keyVersion, rows }) => `${place} (key ${keyVersion}, ${rows} row(s))`)
    super(
      'ERR_MASTER_KEY_MISSING',
      `Master keys are missing: ${uses.join(', ')}. Given: ${given.join(', ')}. List each missing key behind the newest, separated by ` +
        'a comma, run `payment-integration secrets reseal` with both, and remove it when that command says so.',
    )
    this.missing = missing
  }
}

/**
 * Checks that every stored secret has its master key. Without it every call would be a 401, every delivery would fail,
 * and e-mail addresses would be lost.
 * @param clock - Decides which previous secrets still count. @default this machine's
 * @throws MasterKeyError `ERR_MASTER_KEY_MISSING` when a stored secret needs a key that is not listed.
 * @example
 * import { checkMasterKey, parseMasterKey } from '@payment-integration/core'
 * import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
 * const store = createSqliteStore({ path: './payments.db' })
 * await store.migrate()
 * await checkMasterKey(store, parseMasterKey(process.env['MASTER_KEY'] ?? ''))
 */
export async function checkMasterKey(
  store: Pick<Store, 'sealingKeys'>,
  keys: MasterKey,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<void> {
  const uses = await store.sealingKeys(clock.now())
  const missing = uses.filter(({ keyVersion }) => keys.find(keyVersion) === undefined)
  if (missing.length > 0) throw new MasterKeyError(missing, keys)
}
