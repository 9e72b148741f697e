/** Authenticates callers of the legacy endpoints. Source: docs/interface.md 5; docs/decisions/legacy.md. @module */
import type { LegacyKeyStore } from '../ports/store-legacy-keys.js'
import { hashLegacyKey } from '../secrets/hash-legacy-key.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { LegacyCaller } from '../service-types.js'
import type { Recent } from './recent.js'

/** The dependencies of authentication. */
export interface AuthenticateLegacyDeps {
  readonly legacyKeys: Pick<LegacyKeyStore, 'findByHash'>
  readonly keys: MasterKey
  /** Recently accepted headers. */
  readonly recent: Recent<LegacyCaller>
}

/** Longest accepted header value; a key with its scheme needs about 60 characters. */
const maxLength = 512

// Printable ASCII, so that every decoding of the header's bytes agrees.
const pattern = /^(?:bearer )?([\x21-\x7e]+)$/i

// Never issued, so a malformed header costs the same look-up as an unknown key.
const nobody = 'nobody'

/**
 * Builds the check. Unknown, revoked and malformed keys do the same work and all resolve null: a keyed hash under
 * every master key and one look-up. Only a recently accepted header costs less. The store compares the
 * hashes: without the master key no attacker can choose a hash.
 */
export function createAuthenticateLegacy({
  legacyKeys,
  keys,
  recent,
}: AuthenticateLegacyDeps): (authorization?: string | null) => Promise<LegacyCaller | null> {
  return async (authorization) => {
    const header = authorization ?? ''
    const known = recent.find(header)
    if (known !== undefined) return known
    const apiKey = readKey(authorization)
    const keep = recent.reading()
    const found = await legacyKeys.findByHash(keys.all.map((key) => hashLegacyKey(key, apiKey ?? nobody)))
    if (apiKey === null || found === null || found.revokedAt !== null) return null
    const caller = { keyId: found.id }
    keep(header, caller)
    return caller
  }
}

function readKey(authorization: string | null | undefined): string | null {
  if (typeof authorization !== 'string' || authorization.length > maxLength) return null
  return pattern.exec(authorization)?.[1] ?? null
}
