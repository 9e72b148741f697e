/** API secrets at rest: a keyed hash. Source: DESIGN section 3 (secrets). @module */
import { createHmac } from 'node:crypto'
import type { SecretHash } from '../ports/store-integrations.js'
import type { KeyVersion } from './master-key.js'

/** HMAC-SHA256 of a secret. A fast hash is enough for 32 random bytes, and a slow one would be a lever for floods. */
export function hashApiSecret(key: KeyVersion, secret: string): SecretHash {
  const hash = createHmac('sha256', key.derive('api-secret')).update(secret, 'utf8').digest('hex')
  return { keyVersion: key.version, hash }
}
