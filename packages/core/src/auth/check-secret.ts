/** Checks an address and its API secret at the same cost, known or not. Source: docs/interface.md 5, rule 4. @module */
import { timingSafeEqual } from 'node:crypto'
import type { IntegrationStore, SecretHash } from '../ports/store-integrations.js'
import type { Clock, Random } from '../ports/world.js'
import { hashApiSecret } from '../secrets/hash-api-secret.js'
import type { MasterKey } from '../secrets/master-key.js'
import { parseBasic } from './basic.js'

/** The dependencies of the check. */
export interface SecretCheckDeps {
  readonly integrations: Pick<IntegrationStore, 'credentials'>
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

/** An accepted API secret. */
export interface AcceptedSecret {
  readonly integrationAddress: string
  /** Its stored hash. */
  readonly hash: string
  /** End of its grace time in unix milliseconds; infinite for the current secret. */
  readonly until: number
}

/**
 * Builds the check of an `Authorization: Basic` header. An unknown address, a wrong secret, a disabled integration, a
 * missing API secret and a malformed header all resolve null after the same work. That work is a keyed hash under every
 * master key, one look-up and two comparisons.
 */
export function createSecretCheck(deps: SecretCheckDeps) {
  const { integrations, keys, clock, random } = deps
  const dummy: SecretHash = {
    keyVersion: keys.current.version,
    hash: Buffer.from(random.bytes(32)).toString('hex'),
  }
  const absent = { current: dummy, previous: { ...dummy, until: 0 } }
  return async (authorization: string | null | undefined): Promise<AcceptedSecret | null> => {
    const { wellFormed, address, secret } = parseBasic(authorization)
    const given = keys.all.map((key) => hashApiSecret(key, address, secret))
    const { usable, current, previous } = await integrations.credentials(address, absent)
    const isCurrent = matches(given, current)
    const isPrevious = matches(given, previous)
    const previousCounts = clock.now() < previous.until
    if (!(wellFormed && usable && (isCurrent || (isPrevious && previousCounts)))) return null
    const { hash } = isCurrent ? current : previous
    return { integrationAddress: address, hash, until: isCurrent ? Number.POSITIVE_INFINITY : previous.until }
  }
}

/** A hash under an unconfigured key matches nothing, at the same cost. */
function matches(given: readonly SecretHash[], stored: SecretHash): boolean {
  const candidate = given.find(({ keyVersion }) => keyVersion === stored.keyVersion)
  const bytes = Buffer.from((candidate ?? given[0])?.hash ?? '', 'hex')
  const expected = Buffer.from(stored.hash, 'hex')
  return expected.length === bytes.length && timingSafeEqual(bytes, expected) && candidate !== undefined
}
