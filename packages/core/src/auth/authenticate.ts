/** One path for every caller, known or not. Source: INTERFACE 5, rules 3 and 4. @module */
import { timingSafeEqual } from 'node:crypto'
import type { IntegrationStore, SecretHash } from '../ports/store-integrations.js'
import type { Clock, Random } from '../ports/world.js'
import { hashApiSecret } from '../secrets/hash-api-secret.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { Caller } from '../service-types.js'
import { parseBasic } from './basic.js'

/** What authentication needs. */
export interface AuthenticateDeps {
  readonly integrations: Pick<IntegrationStore, 'find'>
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

// No integration can be stored under it, so a malformed header costs the same look-up as an unknown address.
const nobody = { address: 'nobody', secret: 'nobody' }

/**
 * Builds the check. Unknown address, wrong secret, disabled integration, an integration without an API secret and a malformed
 * header do the same work and all resolve null: one look-up, two keyed hashes, two comparisons.
 */
export function createAuthenticate(deps: AuthenticateDeps): (authorization?: string | null) => Promise<Caller | null> {
  const { integrations, keys, clock, random } = deps
  const dummy: SecretHash = {
    keyVersion: keys.current.version,
    hash: Buffer.from(random.bytes(32)).toString('hex'),
  }
  return async (authorization) => {
    const parsed = parseBasic(authorization)
    const { address, secret } = parsed ?? nobody
    const found = await integrations.find(address)
    const previous = found?.previousApiSecret
    const isCurrent = matches(keys, secret, found?.apiSecret ?? dummy)
    const isPrevious = matches(keys, secret, previous ?? dummy)
    const previousCounts = previous != null && clock.now() < previous.until
    const known = parsed !== null && found?.enabled === true && found.apiSecret !== null
    return known && (isCurrent || (isPrevious && previousCounts)) ? { integrationAddress: address } : null
  }
}

function matches(keys: MasterKey, secret: string, stored: SecretHash): boolean {
  const key = keys.find(stored.keyVersion)
  const given = Buffer.from(hashApiSecret(key ?? keys.current, secret).hash, 'hex')
  const expected = Buffer.from(stored.hash, 'hex')
  return expected.length === given.length && timingSafeEqual(given, expected) && key !== undefined
}
