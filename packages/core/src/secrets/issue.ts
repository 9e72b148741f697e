/**
 * Issues secrets: 32 random bytes with a prefix that names their purpose. Source: docs/decisions/secrets.md.
 * @module
 */
import type { Random } from '../ports/world.js'

/** The password of HTTP Basic. */
export function issueApiSecret(random: Pick<Random, 'bytes'>): string {
  return `pi_api_${Buffer.from(random.bytes(32)).toString('base64url')}`
}

/** The key of the notification signature. */
export function issueSigningSecret(random: Pick<Random, 'bytes'>): string {
  return `pi_whsec_${Buffer.from(random.bytes(32)).toString('base64url')}`
}

/** The API key of the legacy endpoints. */
export function issueLegacyKey(random: Pick<Random, 'bytes'>): string {
  return `pi_legacy_${Buffer.from(random.bytes(32)).toString('base64url')}`
}
