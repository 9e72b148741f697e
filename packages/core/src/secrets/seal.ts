/** Signing secrets at rest: AES-256-GCM, bound to their row. Source: DESIGN section 3 (secrets). @module */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { CoreError } from '../errors.js'
import type { SealedSecret } from '../ports/store-integrations.js'
import type { Random } from '../ports/world.js'
import type { MasterKey } from './master-key.js'

const nonceBytes = 12
const tagBytes = 16

/** A sealed secret cannot be opened: its key is gone, or the row was altered or moved. */
export class SealedSecretError extends CoreError {
  override readonly name = 'SealedSecretError'
  readonly code = 'ERR_SECRET_UNREADABLE'
  readonly retryable = false
  constructor(address: string) {
    super(
      `The signing secret of integration ${address} cannot be opened with the master keys given. ` +
        'Add the key it was sealed with, or rotate the secret.',
    )
  }
}

/** Seals a secret for one integration's row; moved to another row it does not open. */
export function sealSecret(
  keys: MasterKey,
  random: Pick<Random, 'bytes'>,
  address: string,
  secret: string,
): SealedSecret {
  const { version } = keys.current
  const nonce = random.bytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', keys.current.derive('signing-secret'), nonce, {
    authTagLength: tagBytes,
  })
  cipher.setAAD(boundTo(address, version))
  const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { keyVersion: version, sealed: sealed.toString('base64url') }
}

/**
 * Opens a sealed secret.
 * @throws SealedSecretError `ERR_SECRET_UNREADABLE`.
 */
export function openSecret(keys: MasterKey, address: string, { keyVersion, sealed }: SealedSecret): string {
  const key = keys.find(keyVersion)
  const bytes = Buffer.from(sealed, 'base64url')
  if (key === undefined || bytes.length <= nonceBytes + tagBytes) throw new SealedSecretError(address)
  const decipher = createDecipheriv('aes-256-gcm', key.derive('signing-secret'), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(boundTo(address, keyVersion))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString('utf8')
  } catch {
    throw new SealedSecretError(address)
  }
}

function boundTo(address: string, version: number): Buffer {
  return Buffer.from(`integrations.signing_secret|${address}|${version}`, 'utf8')
}
