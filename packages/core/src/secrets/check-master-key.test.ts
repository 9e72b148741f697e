import { expect, it } from 'vitest'
import { parseMasterKey } from './keys.js'
import { checkMasterKey } from './seal.js'

const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const old = parseMasterKey(oldKey).current.version
const newest = parseMasterKey(newKey).current.version
const uses = [
  { place: 'integrations.signing_secret', keyVersion: newest, rows: 2 },
  { place: 'data_keys.key', keyVersion: old, rows: 1 },
]

it('accepts a database whose keys are all listed, and an empty one', async () => {
  await checkMasterKey({ sealingKeys: async () => uses }, parseMasterKey(`${newKey},${oldKey}`))
  await checkMasterKey({ sealingKeys: async () => [] }, parseMasterKey(newKey))
})

it('rejects a database that needs a key that is not listed, and names the place, the keys and the cure', async () => {
  const checked = checkMasterKey({ sealingKeys: async () => uses }, parseMasterKey(newKey))
  await expect(checked).rejects.toMatchObject({
    code: 'ERR_MASTER_KEY_MISSING',
    missing: [uses[1]],
    message:
      `Master keys are missing: data_keys.key (key ${old}, 1 row(s)). Given: key ${newest}. List each missing key behind the newest, ` +
      'separated by a comma, run `payment-integration secrets reseal` with both, and remove it when that command says so.',
  })
})

it('asks for the keys that are needed at the time of its clock', async () => {
  const asked: number[] = []
  const store = {
    async sealingKeys(now: number) {
      asked.push(now)
      return []
    },
  }
  await checkMasterKey(store, parseMasterKey(newKey), { now: () => 999 })
  expect(asked).toEqual([999])
})
