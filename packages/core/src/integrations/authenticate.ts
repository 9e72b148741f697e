/** Authenticates callers at the same cost, known or not. Source: docs/interface.md 5. @module */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Clock, RandomSource } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import { hashApiSecret, type MasterKey, type SecretHash } from '../secrets/keys.js'
import type { Caller, IntegrationStore } from './integration.js'

/** Longest accepted header value; credentials of this service need about 130 characters. */
const maxLength = 512
// As long as real credentials, so that timing is the same. No integration can have this address.
const dummyCredentials = { address: `0x${'x'.repeat(40)}`, secret: 'x'.repeat(50) }
const encodedDummy = Buffer.from(`${dummyCredentials.address}:${dummyCredentials.secret}`).toString('base64')
/** Replaces a missing header, so that its absence saves no work. */
const dummyHeader = `Basic ${encodedDummy}`

const basicPattern = /^basic +([A-Za-z0-9+/]+={0,2})$/i
const addressPattern = /^0x[0-9a-fA-F]{40}$/
// Control characters never occur in an issued secret, so a header with one is malformed.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const controlCharacters = /[\u0000-\u001f\u007f]/

/**
 * Parses a Basic header: case-insensitive scheme, canonical base64, split at the first colon; the address is `0x` and
 * 40 hex digits. A malformed header is replaced by the dummy one, which takes every step of a good one.
 */
export function parseBasic(authorization: string | null | undefined) {
  const isReadable = typeof authorization === 'string' && authorization.length <= maxLength
  const encoded = basicPattern.exec(isReadable ? authorization : dummyHeader)?.[1] ?? encodedDummy
  const bytes = Buffer.from(encoded, 'base64')
  const isCanonical = bytes.toString('base64') === encoded
  const text = bytes.toString('utf8')
  const colon = text.indexOf(':')
  const address = text.slice(0, colon)
  const secret = text.slice(colon + 1)
  const isWellFormed =
    isCanonical && colon >= 0 && !controlCharacters.test(text) && addressPattern.test(address) && secret !== ''
  return {
    isWellFormed,
    address: isWellFormed ? address.toLowerCase() : dummyCredentials.address,
    secret: isWellFormed ? secret : dummyCredentials.secret,
  }
}

export interface CredentialCheckDeps {
  readonly integrations: Pick<IntegrationStore, 'credentials'>
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<RandomSource, 'bytes'>
}

export interface AcceptedSecret extends Caller {
  readonly hash: string
  /** End of the grace time in unix milliseconds; infinite for the current secret. */
  readonly until: number
}

/**
 * Builds the check of an `Authorization: Basic` header. Every rejection resolves null after the same work: a keyed hash
 * under every master key, one look-up and two comparisons. Causes are an unknown address, a wrong or missing secret, a
 * disabled integration and a malformed header.
 */
export function createCredentialCheck(deps: CredentialCheckDeps) {
  const { integrations, keys, clock, random } = deps
  const dummy: SecretHash = { keyVersion: keys.current.version, hash: Buffer.from(random.bytes(32)).toString('hex') }
  const absent = { current: dummy, previous: { ...dummy, until: 0 } }
  return async (authorization: string | null | undefined): Promise<AcceptedSecret | null> => {
    const { isWellFormed, address, secret } = parseBasic(authorization)
    const computed = keys.all.map((key) => hashApiSecret(key, address, secret))
    const { isUsable, current, previous } = await integrations.credentials(address, absent)
    const isCurrent = matchesHash(computed, current)
    const isPrevious = matchesHash(computed, previous)
    const isPreviousValid = clock.now() < previous.until
    if (!(isWellFormed && isUsable && (isCurrent || (isPrevious && isPreviousValid)))) return null
    const { hash } = isCurrent ? current : previous
    return { integrationAddress: address, hash, until: isCurrent ? Number.POSITIVE_INFINITY : previous.until }
  }
}

/** A hash under an unconfigured key matches nothing, at the same cost. */
function matchesHash(computed: readonly SecretHash[], stored: SecretHash): boolean {
  const candidate = computed.find(({ keyVersion }) => keyVersion === stored.keyVersion)
  const bytes = Buffer.from((candidate ?? computed[0])?.hash ?? '', 'hex')
  const expected = Buffer.from(stored.hash, 'hex')
  return expected.length === bytes.length && timingSafeEqual(bytes, expected) && candidate !== undefined
}

/** How long a cached result is used, in milliseconds: a secret that another process revokes stays valid this long. */
export const credentialCacheMs = 250

/** The most cached headers; a service has far fewer callers at one time. */
const maxEntries = 1_000

export type CredentialCache<Value> = ReturnType<typeof createCredentialCache<Value>>

/** Builds an empty cache. It contains no header and no secret; its keys are hashes salted for this process. */
export function createCredentialCache<Value>({ clock, random }: Pick<CredentialCheckDeps, 'clock' | 'random'>) {
  const salt = Buffer.from(random.bytes(32)).toString('base64')
  const entries = new Map<string, { readonly value: Value; readonly since: number }>()
  let clearCount = 0
  let latest = Number.NEGATIVE_INFINITY
  const hashHeader = (header: string) => hash('sha256', `${salt}${header}`, 'base64')
  function forget(): void {
    clearCount += 1
    entries.clear()
  }
  return {
    find(header: string): Value | undefined {
      const now = clock.now()
      // After the clock was set back, entries would look too young.
      if (now < latest) forget()
      latest = now
      const entry = entries.get(hashHeader(header))
      return entry !== undefined && now - entry.since < credentialCacheMs ? entry.value : undefined
    },
    /** Reads and caches a value, unless `forget` was called meanwhile. No rejection is cached: all cost the same. */
    async read(header: string, load: () => Promise<Value | null>): Promise<Value | null> {
      const clearsBefore = clearCount
      const since = clock.now()
      const value = await load()
      if (value === null || clearsBefore !== clearCount) return value
      if (entries.size >= maxEntries) entries.clear()
      entries.set(hashHeader(header), { value, since })
      return value
    },
    forget,
  }
}

/** Runs transactions and clears the cache after each, even after an unknown outcome. */
export function clearAfterChanges(
  transaction: Store['transaction'],
  { forget }: Pick<CredentialCache<unknown>, 'forget'>,
): Store['transaction'] {
  return (work) => transaction(work).finally(forget)
}

/** Builds the same check as {@link createCredentialCheck}, with a cache: recently accepted headers cost less. */
export function createAuthenticate(deps: CredentialCheckDeps & { readonly cache: CredentialCache<AcceptedSecret> }) {
  const { clock, cache } = deps
  const check = createCredentialCheck(deps)
  return async (authorization?: string | null): Promise<Caller | null> => {
    const header = authorization ?? dummyHeader
    const cached = cache.find(header)
    const isValid = cached !== undefined && clock.now() < cached.until
    const accepted = isValid ? cached : await cache.read(header, () => check(authorization))
    return accepted && { integrationAddress: accepted.integrationAddress }
  }
}
