import { expect, it } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { openStore } from '../../test/support/store.js'
import { createAudited } from '../history/audit-log.js'
import { clearAfterChanges, createCredentialCache } from '../integrations/authenticate.js'
import type { RandomSource } from '../ports/runtime.js'
import { parseMasterKey } from '../secrets/keys.js'
import { createAuthenticateLegacy, createLegacyKeyCommands, type LegacyCaller } from './keys.js'

const keys = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')

function setup(given?: Pick<RandomSource, 'bytes'>) {
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
  const { commands, authenticate } = setup()
  const { key, apiKey } = await commands.create({ name: 'shop' })
  expect(apiKey).toMatch(/^pi_legacy_[A-Za-z0-9_-]{43}$/)
  expect(key).toEqual({
    id: expect.stringMatching(/^lk_[0-9a-f]{16}$/),
    name: 'shop',
    createdAt: 1_000,
    revokedAt: null,
  })
  expect(await authenticate(apiKey)).toEqual({ keyId: key.id })
})

it('stores and shows no plain key, and never the same one twice', async () => {
  const { legacyKeys, commands } = setup()
  const issued = [await commands.create(), await commands.create()]
  expect(new Set(issued.flatMap(({ key, apiKey }) => [key.id, apiKey])).size).toBe(4)
  const seen = JSON.stringify([await legacyKeys.list(), await commands.list(), issued.map(({ key }) => key)])
  for (const { apiKey } of issued) expect(seen).not.toContain(apiKey.slice('pi_legacy_'.length))
  expect(JSON.stringify(await commands.list())).not.toContain('hash')
})

it('revokes at once and keeps the first time', async () => {
  const { commands, authenticate, tick } = setup()
  const { key, apiKey } = await commands.create()
  const other = await commands.create()
  tick()
  expect(await commands.revoke(key.id)).toEqual({ ...key, revokedAt: 2_000 })
  tick()
  expect(await commands.revoke(key.id)).toEqual({ ...key, revokedAt: 2_000 })
  expect([await authenticate(apiKey), await authenticate(other.apiKey)]).toEqual([null, { keyId: other.key.id }])
})

it('names the code when there is no such key', async () => {
  await expect(setup().commands.revoke('lk_none')).rejects.toMatchObject({ code: 'ERR_LEGACY_KEY_NOT_FOUND' })
})
