/** Authenticates callers at the same cost, known or not. Source: docs/interface.md 5, rules 3 and 4. @module */
import { timingSafeEqual } from 'node:crypto'
import type { IntegrationStore, SecretHash } from '../ports/store-integrations.js'
import type { Clock, Random } from '../ports/world.js'
import { hashApiSecret } from '../secrets/hash-api-secret.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { Caller } from '../service-types.js'
import { parseBasic, standInHeader } from './basic.js'
import type { Recent } from './recent.js'

/** A caller, and the end of its secret in unix milliseconds. */
export interface Admission {
  readonly caller: Caller
  readonly until: number
}

/** What authentication needs. */
export interface AuthenticateDeps {
  readonly integrations: Pick<IntegrationStore, 'credentials'>
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  /** Recently accepted headers. */
  readonly recent: Recent<Admission>
}

/**
 * Builds the check. An unknown address, a wrong secret, a disabled integration, a missing API secret and a malformed
 * header all resolve null after the same work. That work is a keyed hash under every master key, one look-up and two
 * comparisons. Only a recently accepted header costs less.
 */
export function createAuthenticate(deps: AuthenticateDeps): (authorization?: string | null) => Promise<Caller | null> {
  const { integrations, keys, clock, random, recent } = deps
  const dummy: SecretHash = {
    keyVersion: keys.current.version,
    hash: Buffer.from(random.bytes(32)).toString('hex'),
  }
  const absent = { current: dummy, previous: { ...dummy, until: 0 } }
  return async (authorization) => {
    const header = authorization ?? standInHeader
    const known = recent.find(header)
    if (known !== undefined && clock.now() < known.until) return known.caller
    const { wellFormed, address, secret } = parseBasic(authorization)
    const given = keys.all.map((key) => hashApiSecret(key, secret))
    const keep = recent.reading()
    const { usable, current, previous } = await integrations.credentials(address, absent)
    const isCurrent = matches(given, current)
    const isPrevious = matches(given, previous)
    const previousCounts = clock.now() < previous.until
    if (!(wellFormed && usable && (isCurrent || (isPrevious && previousCounts)))) return null
    const caller = { integrationAddress: address }
    keep(header, { caller, until: isCurrent ? Number.POSITIVE_INFINITY : previous.until })
    return caller
  }
}

/** A hash under an unconfigured key matches nothing, at the same cost. */
function matches(given: readonly SecretHash[], stored: SecretHash): boolean {
  const candidate = given.find(({ keyVersion }) => keyVersion === stored.keyVersion)
  const bytes = Buffer.from((candidate ?? given[0])?.hash ?? '', 'hex')
  const expected = Buffer.from(stored.hash, 'hex')
  return expected.length === bytes.length && timingSafeEqual(bytes, expected) && candidate !== undefined
}
