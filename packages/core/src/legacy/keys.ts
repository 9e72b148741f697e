/** Manages the API keys of the legacy endpoints, and authenticates by them. Source: docs/interface.md 5. @module */
import { LegacyKeyNotFoundError } from '../errors.js'
import type { Audited } from '../history/audit-log.js'
import type { CredentialCache } from '../integrations/authenticate.js'
import { parseName } from '../internal/parameters.js'
import type { Clock, RandomSource } from '../ports/runtime.js'
import { hashLegacyKey, issueSecret, type MasterKey } from '../secrets/keys.js'
import type { LegacyKeyRecord, LegacyKeyStore } from './legacy-store.js'

/** An authenticated caller of the legacy API. */
export interface LegacyCaller {
  /** Public name of the API key for operators. */
  readonly keyId: string
}

/** A legacy API key without its secret. */
export type LegacyKeyView = Pick<LegacyKeyRecord, 'id' | 'name' | 'createdAt' | 'revokedAt'>

/** A change applies to this process at once, and to others within a quarter of a second: docs/decisions/secrets.md. */
export type LegacyKeyCommands = ReturnType<typeof createLegacyKeyCommands>

/** Longest accepted header value; a key with its scheme needs about 60 characters. */
const maxHeaderLength = 512

// Printable ASCII, so that every decoding of the header's bytes agrees.
const apiKeyHeader = /^(?:bearer )?([\x21-\x7e]+)$/i

// Never issued, so a malformed header costs the same look-up as an unknown key.
const neverIssuedKey = 'nobody'

/**
 * Builds the check of a legacy key. Unknown, revoked and malformed keys resolve null after the same work: hashes under
 * every master key and one look-up. The store may compare the hashes in variable time: without the master key no
 * attacker can choose one.
 */
export function createAuthenticateLegacy(deps: {
  readonly legacyKeys: Pick<LegacyKeyStore, 'findByHash'>
  readonly keys: MasterKey
  readonly cache: CredentialCache<LegacyCaller>
}) {
  const { legacyKeys, keys, cache } = deps
  return async (authorization?: string | null): Promise<LegacyCaller | null> => {
    const header = authorization ?? ''
    const cached = cache.find(header)
    if (cached !== undefined) return cached
    const apiKey = header.length > maxHeaderLength ? null : (apiKeyHeader.exec(header)?.[1] ?? null)
    return cache.read(header, async () => {
      const record = await legacyKeys.findByHash(keys.all.map((key) => hashLegacyKey(key, apiKey ?? neverIssuedKey)))
      return apiKey === null || record === null || record.revokedAt !== null ? null : { keyId: record.id }
    })
  }
}

interface LegacyKeyDeps {
  readonly legacyKeys: Pick<LegacyKeyStore, 'list'>
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<RandomSource, 'bytes'>
}

/** Random bytes of an id: enough to be unique among the keys of one service, short enough to type. */
const idBytes = 8

export function createLegacyKeyCommands({ legacyKeys, audited, keys, clock, random }: LegacyKeyDeps) {
  return {
    /** Issues a key; `apiKey` is shown this once. @throws InvalidParameterError `ERR_NAME_INVALID`. */
    async create({ name = '' }: { readonly name?: string | undefined } = {}) {
      const apiKey = issueSecret('legacy', random)
      const record: LegacyKeyRecord = {
        id: `lk_${Buffer.from(random.bytes(idBytes)).toString('hex')}`,
        name: parseName(name),
        secret: hashLegacyKey(keys.current, apiKey),
        createdAt: clock.now(),
        revokedAt: null,
      }
      await audited(async (tx, note) => {
        if (!(await tx.legacyKeys.insert(record)))
          throw new Error('The random source repeated the id or the key of another legacy key; nothing was stored.')
        note({ action: 'legacy_key.created', subject: record.id, details: { name } })
      })
      return { key: toLegacyKeyView(record), apiKey }
    },
    async list(): Promise<LegacyKeyView[]> {
      return (await legacyKeys.list()).map(toLegacyKeyView)
    },
    /** @throws LegacyKeyNotFoundError `ERR_LEGACY_KEY_NOT_FOUND`. */
    async revoke(id: string): Promise<LegacyKeyView> {
      const now = clock.now()
      return audited(async (tx, note) => {
        const record = await tx.legacyKeys.revoke(id, now)
        if (record === null) throw new LegacyKeyNotFoundError(id)
        note({ action: 'legacy_key.revoked', subject: id })
        return toLegacyKeyView(record)
      })
    },
  }
}

function toLegacyKeyView({ id, name, createdAt, revokedAt }: LegacyKeyRecord): LegacyKeyView {
  return { id, name, createdAt, revokedAt }
}
