import { createAudited, createAuditQueries } from '../../src/history/audit-log.js'
import { createIntegrationCommands } from '../../src/integrations/integration-commands.js'
import { createLegacyKeyCommands } from '../../src/legacy/keys.js'
import { type MasterKey, parseMasterKey } from '../../src/secrets/keys.js'
import { manualClock } from './manual-clock.js'
import { seededRandom } from './seeded-random.js'
import { openStore } from './store.js'

export const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
/** Before a new master key, with both, and after the old one is gone. */
export const before = parseMasterKey(oldKey)
export const both = parseMasterKey(`${newKey},${oldKey}`)
export const after = parseMasterKey(newKey)
/** An integration address of one repeated letter. */
export const getAddress = (name: string) => `0x${name.repeat(40).slice(0, 40)}`

/** The commands on a store in memory, by the master key {@link before} where no other is named. */
export function setUpIntegrations() {
  const clock = manualClock()
  const store = openStore()
  const random = seededRandom('integrations')
  const commandsWith = (keys: MasterKey) => {
    const audited = createAudited({ transaction: store.transaction, keys, clock, actor: 'cli:ada' })
    const { integrations, legacyKeys, audit } = store
    return {
      ...createIntegrationCommands({
        ...{ integrations, chains: store.chains, recording: 'all', followed: [] },
        ...{ audited, keys, clock, random, allowLoopbackHttp: false },
      }),
      legacy: createLegacyKeyCommands({ legacyKeys, audited, keys, clock, random }),
      audit: createAuditQueries({ audit, keys }),
    }
  }
  const log = () => store.committed.audit.map(({ action, subject, details }) => [action, subject, details])
  const stored = async (address: string) => {
    const record = await store.integrations.find(address)
    if (record === null) throw new Error(`${address} is not stored`)
    return record
  }
  return { clock, store, commandsWith, commands: commandsWith(before), log, stored }
}
