/** Hashes API secrets for storage. Source: docs/decisions/secrets.md. @module */
import type { SecretHash } from '../ports/store-integrations.js'
import { keyedHash } from './keyed-hash.js'
import type { KeyVersion } from './master-key.js'

/** The keyed hash of an API secret, bound to its integration: under another address it matches nothing. */
export function hashApiSecret(key: KeyVersion, address: string, secret: string): SecretHash {
  return keyedHash(key, 'api-secret', `${address}\n${secret}`)
}
