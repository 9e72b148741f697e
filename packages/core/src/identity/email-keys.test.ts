import { expect, test } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { openStore } from '../../test/support/store.js'
import { parseMasterKey } from '../secrets/keys.js'
import { SealedSecretError } from '../secrets/seal.js'
import { createSealEmail, openEmailKey } from './emails.js'

const [older, newer] = ['11223344556677889900aabbccddeeff'.repeat(2), 'ffeeddccbbaa00998877665544332211'.repeat(2)]
const only = parseMasterKey(older)
const address = 'canary@example.com'

const setup = () => {
  const { dataKeys } = openStore({ now: () => 0 })
  return (keys: typeof only, seed = 'one') => ({ dataKeys, keys, random: seededRandom(seed) })
}

test('every process uses the key that was created first', async () => {
  const deps = setup()
  const first = await openEmailKey(deps(only))
  expect(Buffer.from(await openEmailKey(deps(only, 'another process')))).toEqual(Buffer.from(first))
  expect(first).toHaveLength(32)
})

test('a key sealed with another master key cannot be decrypted', async () => {
  const deps = setup()
  await openEmailKey(deps(only))
  await expect(openEmailKey(deps(parseMasterKey(newer)))).rejects.toThrow(SealedSecretError)
})

test('stored forms contain no address, and no two are sealed alike', async () => {
  const sealEmail = createSealEmail(await openEmailKey(setup()(only)), seededRandom('nonces'))
  const [one, again, other] = [sealEmail(address), sealEmail(address), sealEmail('other@example.com')]
  expect(one.key).toMatch(/^[0-9a-f]{64}$/)
  expect([again.key, other.key]).toEqual([one.key, expect.not.stringMatching(one.key)])
  expect(again.sealed.sealed).not.toBe(one.sealed.sealed)
  expect(JSON.stringify([one.key, one.sealed])).not.toContain('canary')
  expect(Buffer.from(one.sealed.sealed, 'base64url').toString('latin1')).not.toContain('canary')
})
