/** Managing the API keys of the legacy endpoints. Source: INTERFACE 5 (legacy API); DESIGN section 3 (secrets). @module */
import { LegacyKeyNotFoundError } from '../errors.js'
import type { LegacyKeyRecord, LegacyKeyStore } from '../ports/store-legacy-keys.js'
import type { Clock, Random } from '../ports/world.js'
import { hashLegacyKey } from '../secrets/hash-legacy-key.js'
import { issueLegacyKey } from '../secrets/issue.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { LegacyKeyCommands, LegacyKeyView } from '../service-types.js'

/** What the commands need. */
export interface LegacyKeyDeps {
  readonly legacyKeys: Pick<LegacyKeyStore, 'list' | 'insert' | 'revoke'>
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

/** Random bytes of an id: enough to be unique among the keys of one service, short enough to type. */
const idBytes = 8

/** Builds the commands. A plain key is returned once and never stored. */
export function createLegacyKeyCommands({ legacyKeys, keys, clock, random }: LegacyKeyDeps): LegacyKeyCommands {
  return {
    async create({ name = '' } = {}) {
      const apiKey = issueLegacyKey(random)
      const record: LegacyKeyRecord = {
        id: `lk_${Buffer.from(random.bytes(idBytes)).toString('hex')}`,
        name,
        secret: hashLegacyKey(keys.current, apiKey),
        createdAt: clock.now(),
        revokedAt: null,
      }
      if (!(await legacyKeys.insert(record)))
        throw new Error(
          'The random source gave the id or the key of a legacy key that exists already; nothing was stored.',
        )
      return { key: legacyKeyView(record), apiKey }
    },
    async list() {
      return (await legacyKeys.list()).map(legacyKeyView)
    },
    async revoke(id) {
      const record = await legacyKeys.revoke(id, clock.now())
      if (record === null) throw new LegacyKeyNotFoundError(id)
      return legacyKeyView(record)
    },
  }
}

function legacyKeyView({ id, name, createdAt, revokedAt }: LegacyKeyRecord): LegacyKeyView {
  return { id, name, createdAt, revokedAt }
}
