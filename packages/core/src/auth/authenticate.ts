/** Authenticates callers at the same cost, known or not. Source: docs/interface.md 5, rules 3 and 4. @module */
import type { Caller } from '../service-types.js'
import { standInHeader } from './basic.js'
import { createSecretCheck, type SecretCheckDeps } from './check-secret.js'
import type { Recent } from './recent.js'

/** A caller, and the end of its secret in unix milliseconds. */
export interface Admission {
  readonly caller: Caller
  readonly until: number
}

/** The dependencies of authentication. */
export interface AuthenticateDeps extends SecretCheckDeps {
  /** Recently accepted headers. */
  readonly recent: Recent<Admission>
}

/** Builds the check of {@link createSecretCheck}, which costs less for a recently accepted header alone. */
export function createAuthenticate(deps: AuthenticateDeps): (authorization?: string | null) => Promise<Caller | null> {
  const { clock, recent } = deps
  const check = createSecretCheck(deps)
  return async (authorization) => {
    const header = authorization ?? standInHeader
    const known = recent.find(header)
    if (known !== undefined && clock.now() < known.until) return known.caller
    const keep = recent.reading()
    const accepted = await check(authorization)
    if (accepted === null) return null
    const { integrationAddress, until } = accepted
    const caller = { integrationAddress }
    keep(header, { caller, until })
    return caller
  }
}
