/** Legacy API keys at rest. Source: docs/decisions/secrets.md. @module */
import type { SecretHash } from '../ports/store-integrations.js'
import { keyedHash } from './keyed-hash.js'
import type { KeyVersion } from './master-key.js'

/**
 * The keyed hash of a legacy API key. Under another purpose than API secrets, so that neither opens the other's door.
 */
export function hashLegacyKey(key: KeyVersion, apiKey: string): SecretHash {
  return keyedHash(key, 'legacy-key', apiKey)
}
