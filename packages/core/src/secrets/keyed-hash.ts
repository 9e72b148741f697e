/** Secrets that are only ever compared, at rest: a keyed hash. Source: docs/decisions/secrets.md. @module */
import { createHmac } from 'node:crypto'
import type { SecretHash } from '../ports/store-integrations.js'
import type { KeyPurpose, KeyVersion } from './master-key.js'

/** HMAC-SHA256 of a secret. A fast hash is enough for 32 random bytes, and a slow one would be a lever for floods. */
export function keyedHash(key: KeyVersion, purpose: KeyPurpose, secret: string): SecretHash {
  const hash = createHmac('sha256', key.derive(purpose)).update(secret, 'utf8').digest('hex')
  return { keyVersion: key.version, hash }
}
