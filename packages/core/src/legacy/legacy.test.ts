import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { openStore } from '../../test/support/store.js'
import { createCredentialCache } from '../integrations/authenticate.js'
import { hashApiSecret, hashLegacyKey, parseMasterKey } from '../secrets/keys.js'
import { createAuthenticateLegacy, type LegacyCaller } from './keys.js'

const oldMaster = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newMaster = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const keys = parseMasterKey(`${newMaster},${oldMaster}`)
const apiKey = 'pi_legacy_key'

async function setup({ revokedAt = null as number | null, secret = hashLegacyKey(keys.current, apiKey) } = {}) {
  const { legacyKeys, transaction } = openStore()
  await transaction((tx) => tx.legacyKeys.insert({ id: 'lk_1', name: '', secret, createdAt: 0, revokedAt }))
  const lookups: Parameters<typeof legacyKeys.findByHash>[0][] = []
  const findByHash: typeof legacyKeys.findByHash = (hashes) => {
    lookups.push(hashes)
    return legacyKeys.findByHash(hashes)
  }
  const recent = createCredentialCache<LegacyCaller>({ clock: { now: () => 0 }, random: seededRandom(1) })
  return { lookups, authenticate: createAuthenticateLegacy({ legacyKeys: { findByHash }, keys, cache: recent }) }
}

describe('the API key of the legacy endpoints', () => {
  it.each([
    ['bare', apiKey],
    ['after Bearer', `Bearer ${apiKey}`],
    ['after the scheme in any case', `bEARER ${apiKey}`],
  ])('is accepted %s', async (_how, header) => {
    expect(await (await setup()).authenticate(header)).toEqual({ keyId: 'lk_1' })
  })

  it('is accepted when it was hashed under a replaced master key that is listed', async () => {
    const replaced = parseMasterKey(oldMaster).current
    expect(await (await setup({ secret: hashLegacyKey(replaced, apiKey) })).authenticate(apiKey)).toEqual({
      keyId: 'lk_1',
    })
  })

  it('opens nothing once it is revoked', async () => {
    expect(await (await setup({ revokedAt: 5 })).authenticate(apiKey)).toBe(null)
  })

  const refused: [string, string | null | undefined][] = [
    ['nothing', undefined],
    ['null', null],
    ['an empty value', ''],
    ['a wrong key', 'pi_legacy_kez'],
    ['the key in another case', apiKey.toUpperCase()],
    ['the scheme alone', 'Bearer'],
    ['the scheme and a space', 'Bearer '],
    ['two spaces after the scheme', `Bearer  ${apiKey}`],
    ['a tab after the scheme', `Bearer\t${apiKey}`],
    ['no space after the scheme', `Bearer${apiKey}`],
    ['the scheme twice', `Bearer Bearer ${apiKey}`],
    ['another scheme', `Basic ${apiKey}`],
    ['a leading space', ` ${apiKey}`],
    ['a trailing space', `${apiKey} `],
    ['a trailing line feed', `${apiKey}\n`],
    ['two keys', `${apiKey}, ${apiKey}`],
    ['a NUL', `${apiKey}\u0000`],
    ['a full-width character', apiKey.replace('k', '\uff4b')],
    ['a Kelvin sign for its k', apiKey.replace('k', '\u212a')],
    ['an overlong value', apiKey.padEnd(513, 'x')],
  ]

  it.each(refused)('is not found in %s', async (_what, header) => {
    expect(await (await setup()).authenticate(header)).toBe(null)
  })

  it('costs one look-up with a hash under every master key, whatever was sent', async () => {
    const { lookups, authenticate } = await setup()
    const sent = [apiKey, `Bearer ${apiKey}`, ...refused.map(([, header]) => header)]
    for (const header of sent) await authenticate(header)
    expect(lookups).toHaveLength(sent.length)
    for (const hashes of lookups)
      expect(hashes.map(({ keyVersion }) => keyVersion)).toEqual(keys.all.map(({ version }) => version))
  })

  it('opens nothing when its stored hash was made for another purpose', async () => {
    expect(await (await setup({ secret: hashApiSecret(keys.current, '', apiKey) })).authenticate(apiKey)).toBe(null)
  })
})
