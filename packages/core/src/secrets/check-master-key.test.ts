import { expect, it } from 'vitest'
import type { IntegrationRecord } from '../ports/store-integrations.js'
import type { LegacyKeyRecord } from '../ports/store-legacy-keys.js'
import { checkMasterKey } from './check-master-key.js'
import { hashApiSecret } from './hash-api-secret.js'
import { hashLegacyKey } from './hash-legacy-key.js'
import { parseMasterKey } from './master-key.js'

const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const old = parseMasterKey(oldKey).current
const record = (address: string, change: Partial<IntegrationRecord> = {}): IntegrationRecord => ({
  address,
  name: '',
  notificationUrl: null,
  enabled: true,
  apiSecret: null,
  previousApiSecret: null,
  signingSecret: { keyVersion: parseMasterKey(newKey).current.version, sealed: '' },
  createdAt: 0,
  ...change,
})
const legacyKey = (id: string, change: Partial<LegacyKeyRecord> = {}): LegacyKeyRecord => ({
  id,
  name: '',
  secret: hashLegacyKey(parseMasterKey(newKey).current, 'k'),
  createdAt: 0,
  revokedAt: null,
  ...change,
})
const stored = (integrations: IntegrationRecord[] = [], legacyKeys: LegacyKeyRecord[] = []) => ({
  integrations: { list: async () => integrations },
  legacyKeys: { list: async () => legacyKeys },
})

it('accepts a database whose keys are all listed, and an empty one', async () => {
  const both = parseMasterKey(`${newKey},${oldKey}`)
  await checkMasterKey(stored([record('a'), record('b', { apiSecret: hashApiSecret(old, 's') })]), both)
  await checkMasterKey(stored([], [legacyKey('k', { secret: hashLegacyKey(old, 'k') })]), both)
  await checkMasterKey(stored(), parseMasterKey(newKey))
})

it.each([
  ['a sealed signing secret', { signingSecret: { keyVersion: old.version, sealed: '' } }],
  ['a hashed API secret', { apiSecret: hashApiSecret(old, 's') }],
])('refuses a database with %s of a key that is not listed, and names the integrations', async (_what, change) => {
  await expect(
    checkMasterKey(stored([record('a'), record('b', change)]), parseMasterKey(newKey)),
  ).rejects.toMatchObject({
    code: 'ERR_MASTER_KEY_MISSING',
    integrations: ['b'],
    legacyKeys: [],
  })
})

it('refuses a database with a legacy API key of a key that is not listed, unless it is revoked', async () => {
  const lost = { secret: hashLegacyKey(old, 'k') }
  const records = [legacyKey('good'), legacyKey('lost', lost), legacyKey('gone', { ...lost, revokedAt: 1 })]
  const failure = expect(checkMasterKey(stored([record('a')], records), parseMasterKey(newKey))).rejects
  await failure.toMatchObject({ code: 'ERR_MASTER_KEY_MISSING', integrations: [], legacyKeys: ['lost'] })
})

it('refuses a database with a previous API secret of a key that is not listed, until its grace time is over', async () => {
  const previousApiSecret = { ...hashApiSecret(old, 's'), until: 1_000 }
  const records = stored([record('a', { previousApiSecret })])
  const keys = parseMasterKey(newKey)
  const check = (now: number) => checkMasterKey(records, keys, { now: () => now })
  await expect(check(999)).rejects.toMatchObject({ code: 'ERR_MASTER_KEY_MISSING', integrations: ['a'] })
  await check(1_000)
})
