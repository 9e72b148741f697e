/** Hashes API secrets for storage. Source: docs/decisions/secrets.md. @module */
import type { SecretHash } from '../ports/store-integrations.js'
import { keyedHash } from './keyed-hash.js'
import type { KeyVersion } from './master-key.js'

/** The keyed hash of an API secret. */
export function hashApiSecret(key: KeyVersion, secret: string): SecretHash {
  return keyedHash(key, 'api-secret', secret)
}
