import { expect, it } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { openStore } from '../../test/support/store.js'
import { createAudited } from '../history/audit-log.js'
import { clearAfterChanges, createCredentialCache, credentialCacheMs } from '../integrations/authenticate.js'
import type { RandomSource } from '../ports/runtime.js'
import { hashApiSecret, hashLegacyKey, parseMasterKey } from '../secrets/keys.js'
import { createAuthenticateLegacy, createLegacyKeyCommands, type LegacyCaller } from './keys.js'

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
  const clock = { time: 0, now: () => clock.time }
  const cache = createCredentialCache<LegacyCaller>({ clock, random: seededRandom(1) })
  const revoke = () => transaction((tx) => tx.legacyKeys.revoke('lk_1', 0))
  return { clock, revoke, lookups, authenticate: createAuthenticateLegacy({ legacyKeys: { findByHash }, keys, cache }) }
}

it.each([
  ['bare', apiKey],
  ['after Bearer', `Bearer ${apiKey}`],
  ['after the scheme in any case', `bEARER ${apiKey}`],
])('the API key is accepted %s', async (_how, header) => {
  expect(await (await setup()).authenticate(header)).toEqual({ keyId: 'lk_1' })
})

it('the API key is accepted when it was hashed under a replaced master key that is listed', async () => {
  const replaced = parseMasterKey(oldMaster).current
  const { authenticate } = await setup({ secret: hashLegacyKey(replaced, apiKey) })
  expect(await authenticate(apiKey)).toEqual({ keyId: 'lk_1' })
})

it('the API key opens nothing once it is revoked', async () => {
  expect(await (await setup({ revokedAt: 5 })).authenticate(apiKey)).toBe(null)
})

const rejected: [string, string | null | undefined][] = [
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

it.each(rejected)('the API key is not found in %s', async (_what, header) => {
  expect(await (await setup()).authenticate(header)).toBe(null)
})

it('a request costs one look-up with a hash under every master key, whatever was sent', async () => {
  const { lookups, authenticate } = await setup()
  const sent = [apiKey, `Bearer ${apiKey}`, ...rejected.map(([, header]) => header)]
  for (const header of sent) await authenticate(header)
  expect(lookups).toHaveLength(sent.length)
  for (const hashes of lookups)
    expect(hashes.map(({ keyVersion }) => keyVersion)).toEqual(keys.all.map(({ version }) => version))
})

it('an API key that opened is spared the look-up for a while, and one that was rejected is not', async () => {
  const { clock, revoke, lookups, authenticate } = await setup()
  for (const header of [apiKey, apiKey]) expect(await authenticate(header)).toEqual({ keyId: 'lk_1' })
  expect(lookups).toHaveLength(1)
  for (const header of ['other', 'other', 'Bearer other']) expect(await authenticate(header)).toBe(null)
  expect(lookups).toHaveLength(4)
  await revoke()
  clock.time = credentialCacheMs
  expect(await authenticate(apiKey)).toBe(null)
})

it('the API key opens nothing when its stored hash was made for another purpose', async () => {
  expect(await (await setup({ secret: hashApiSecret(keys.current, '', apiKey) })).authenticate(apiKey)).toBe(null)
})

function setUpCommands(given?: Pick<RandomSource, 'bytes'>) {
  const store = openStore()
  let now = 1_000
  const clock = { now: () => now }
  const random = seededRandom('legacy keys')
  const recent = createCredentialCache<LegacyCaller>({ clock, random: seededRandom('salt') })
  const transaction = clearAfterChanges(store.transaction, recent)
  const audited = createAudited({ transaction, keys, clock, actor: 'test' })
  const { legacyKeys } = store
  const commands = createLegacyKeyCommands({ legacyKeys, audited, keys, clock, random: given ?? random })
  const authenticate = createAuthenticateLegacy({ legacyKeys, keys, cache: recent })
  return { store, legacyKeys, commands, authenticate, tick: () => (now += 1_000) }
}

it('issues 32 random bytes under a prefix, which open the endpoints', async () => {
  const { commands, authenticate } = setUpCommands()
  const { key, apiKey } = await commands.create({ name: 'shop' })
  expect(apiKey).toMatch(/^pi_legacy_[A-Za-z0-9_-]{43}$/)
  const id = expect.stringMatching(/^lk_[0-9a-f]{16}$/)
  expect(key).toEqual({ id, name: 'shop', createdAt: 1_000, revokedAt: null })
  expect(await authenticate(apiKey)).toEqual({ keyId: key.id })
})

it('stores and shows no plain key, and never the same one twice', async () => {
  const { legacyKeys, commands } = setUpCommands()
  const issued = [await commands.create(), await commands.create()]
  expect(new Set(issued.flatMap(({ key, apiKey }) => [key.id, apiKey])).size).toBe(4)
  const seen = JSON.stringify([await legacyKeys.list(), await commands.list(), issued.map(({ key }) => key)])
  for (const { apiKey } of issued) expect(seen).not.toContain(apiKey.slice('pi_legacy_'.length))
  expect(JSON.stringify(await commands.list())).not.toContain('hash')
})

it('revokes at once and keeps the first time', async () => {
  const { commands, authenticate, tick } = setUpCommands()
  const { key, apiKey } = await commands.create()
  const other = await commands.create()
  tick()
  expect(await commands.revoke(key.id)).toEqual({ ...key, revokedAt: 2_000 })
  tick()
  expect(await commands.revoke(key.id)).toEqual({ ...key, revokedAt: 2_000 })
  expect([await authenticate(apiKey), await authenticate(other.apiKey)]).toEqual([null, { keyId: other.key.id }])
})
