/** Hashes legacy API keys for storage. Source: docs/decisions/secrets.md. @module */
import type { SecretHash } from '../ports/store-integrations.js'
import { keyedHash } from './keyed-hash.js'
import type { KeyVersion } from './master-key.js'

/**
 * The keyed hash of a legacy API key. Its purpose differs from that of API secrets, so that neither passes for the
 * other.
 */
export function hashLegacyKey(key: KeyVersion, apiKey: string): SecretHash {
  return keyedHash(key, 'legacy-key', apiKey)
}
