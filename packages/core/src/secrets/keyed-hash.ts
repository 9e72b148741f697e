/** Hashes secrets that are only ever compared. Source: docs/decisions/secrets.md. @module */
import { createHmac } from 'node:crypto'
import type { SecretHash } from '../ports/store-integrations.js'
import type { KeyPurpose, KeyVersion } from './master-key.js'

/** HMAC-SHA256 of a secret. A fast hash suffices for 32 random bytes; a slow one would help a flood of requests. */
export function keyedHash(key: KeyVersion, purpose: KeyPurpose, secret: string): SecretHash {
  const hash = createHmac('sha256', key.derive(purpose)).update(secret, 'utf8').digest('hex')
  return { keyVersion: key.version, hash }
}
