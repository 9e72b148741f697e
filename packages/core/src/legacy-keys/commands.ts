/**
 * Manages the API keys of the legacy endpoints. Source: docs/interface.md 5 (legacy API); docs/decisions/secrets.md.
 * @module
 */
import type { Audited } from '../audit/audited.js'
import { LegacyKeyNotFoundError } from '../errors.js'
import { parseName } from '../payments/parameters.js'
import type { LegacyKeyRecord, LegacyKeyStore } from '../ports/store-legacy-keys.js'
import type { Clock, Random } from '../ports/world.js'
import { hashLegacyKey } from '../secrets/hash-legacy-key.js'
import { issueLegacyKey } from '../secrets/issue.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { LegacyKeyCommands, LegacyKeyView } from '../service-types.js'

/** The dependencies of the commands. */
export interface LegacyKeyDeps {
  readonly legacyKeys: Pick<LegacyKeyStore, 'list'>
  /** Runs every change, with its audit record. */
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

/** Random bytes of an id: enough to be unique among the keys of one service, short enough to type. */
const idBytes = 8

/** Builds the commands. A plain key is returned once and never stored. */
export function createLegacyKeyCommands(deps: LegacyKeyDeps): LegacyKeyCommands {
  const { legacyKeys, audited, keys, clock, random } = deps
  return {
    async create({ name = '' } = {}) {
      const apiKey = issueLegacyKey(random)
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
      return { key: legacyKeyView(record), apiKey }
    },
    async list() {
      return (await legacyKeys.list()).map(legacyKeyView)
    },
    async revoke(id) {
      const now = clock.now()
      return audited(async (tx, note) => {
        const record = await tx.legacyKeys.revoke(id, now)
        if (record === null) throw new LegacyKeyNotFoundError(id)
        note({ action: 'legacy_key.revoked', subject: id })
        return legacyKeyView(record)
      })
    },
  }
}

function legacyKeyView({ id, name, createdAt, revokedAt }: LegacyKeyRecord): LegacyKeyView {
  return { id, name, createdAt, revokedAt }
}
