import { expect, it } from 'vitest'
import type { IntegrationRecord } from '../ports/store-integrations.js'
import { checkMasterKey } from './check-master-key.js'
import { hashApiSecret } from './hash-api-secret.js'
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
const stored = (...records: IntegrationRecord[]) => ({ list: async () => records })

it('accepts a database whose keys are all listed, and an empty one', async () => {
  const both = parseMasterKey(`${newKey},${oldKey}`)
  await checkMasterKey(stored(record('a'), record('b', { apiSecret: hashApiSecret(old, 's') })), both)
  await checkMasterKey(stored(), parseMasterKey(newKey))
})

it.each([
  ['a sealed signing secret', { signingSecret: { keyVersion: old.version, sealed: '' } }],
  ['a hashed API secret', { apiSecret: hashApiSecret(old, 's') }],
])('refuses a database with %s of a key that is not listed, and names the integrations', async (_what, change) => {
  await expect(checkMasterKey(stored(record('a'), record('b', change)), parseMasterKey(newKey))).rejects.toMatchObject({
    code: 'ERR_MASTER_KEY_MISSING',
    integrations: ['b'],
  })
})
