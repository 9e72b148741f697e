import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { openStore } from '../../test/support/store.js'
import { createAuthenticateLegacy } from '../legacy/keys.js'
import { hashApiSecret, hashLegacyKey, parseMasterKey } from '../secrets/keys.js'
import { type CachedCaller, createAuthenticate, createCredentialCache, credentialCacheMs } from './authenticate.js'
import type { StoredCredentials } from './integration.js'

const keys = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')
const integrationAddress = `0x${'ab'.repeat(20)}`
const makeHeader = (secret: string) => `Basic ${Buffer.from(`${integrationAddress}:${secret}`).toString('base64')}`
const stored: StoredCredentials = {
  usable: true,
  current: hashApiSecret(keys.current, integrationAddress, 'current'),
  previous: { ...hashApiSecret(keys.current, integrationAddress, 'previous'), until: 1_000 },
}

function setup() {
  const world = { now: 0, credentials: stored, lookups: 0, onLookup: async () => {} }
  const clock = { now: () => world.now }
  const random = seededRandom(1)
  const recent = createCredentialCache<CachedCaller>({ clock, random })
  const authenticate = createAuthenticate({
    integrations: {
      async credentials() {
        world.lookups += 1
        const { credentials } = world
        await world.onLookup()
        return credentials
      },
    },
    keys,
    clock,
    random,
    cache: recent,
  })
  return { world, recent, authenticate }
}

describe('a header that opened', () => {
  it('is spared the look-up for as long as recentMs says, and not a millisecond more', async () => {
    const { world, authenticate } = setup()
    for (const now of [0, 1, credentialCacheMs - 1]) {
      world.now = now
      expect(await authenticate(makeHeader('current'))).toEqual({ integrationAddress })
    }
    expect(world.lookups).toBe(1)
    world.now = credentialCacheMs
    await authenticate(makeHeader('current'))
    expect(world.lookups).toBe(2)
  })

  it('no longer opens that long after another process disabled the integration', async () => {
    const { world, authenticate } = setup()
    await authenticate(makeHeader('current'))
    world.credentials = { ...stored, usable: false }
    world.now = credentialCacheMs
    expect(await authenticate(makeHeader('current'))).toBeNull()
  })

  it('no longer opens as soon as this process changed anything', async () => {
    const { world, recent, authenticate } = setup()
    await authenticate(makeHeader('current'))
    world.credentials = { ...stored, usable: false }
    recent.forget()
    expect(await authenticate(makeHeader('current'))).toBeNull()
  })

  it('is not kept when something was changed while it was looked up', async () => {
    const { world, recent, authenticate } = setup()
    world.onLookup = async () => {
      world.credentials = { ...stored, usable: false }
      recent.forget()
    }
    expect(await authenticate(makeHeader('current'))).not.toBeNull()
    expect(await authenticate(makeHeader('current'))).toBeNull()
  })

  it('opens with the previous secret until its last millisecond, also from memory', async () => {
    const { world, authenticate } = setup()
    world.now = 1_000 - credentialCacheMs + 10
    expect(await authenticate(makeHeader('previous'))).not.toBeNull()
    world.now = 999
    expect(await authenticate(makeHeader('previous'))).not.toBeNull()
    expect(world.lookups).toBe(1)
    world.now = 1_000
    expect(await authenticate(makeHeader('previous'))).toBeNull()
  })

  it.each([1, 200, 9_999])('is looked up again when the clock was set back by %i ms', async (back) => {
    const { world, authenticate } = setup()
    world.now = 10_000
    await authenticate(makeHeader('current'))
    world.now = 10_240
    await authenticate(makeHeader('current'))
    expect(world.lookups).toBe(1)
    world.now = 10_240 - back
    await authenticate(makeHeader('current'))
    expect(world.lookups).toBe(2)
  })

  it('does not open for another header', async () => {
    const { world, authenticate } = setup()
    await authenticate(makeHeader('current'))
    for (const header of [makeHeader('Current'), `${makeHeader('current')}=`, ` ${makeHeader('current')}`, '', null])
      expect(await authenticate(header)).toBeNull()
    expect(world.lookups).toBe(6)
  })
})

it('every rejection costs a look-up, however often it comes', async () => {
  const { world, authenticate } = setup()
  for (let n = 1; n <= 5; n += 1) {
    expect(await authenticate(makeHeader('wrong'))).toBeNull()
    expect(world.lookups).toBe(n)
  }
})

it('a legacy key that opened is spared the look-up as long, and one that was rejected is not', async () => {
  const world = { now: 0, lookups: 0 }
  const secret = hashLegacyKey(keys.current, 'pi_legacy_key')
  const store = openStore()
  await store.transaction((tx) => tx.legacyKeys.insert({ id: 'lk_1', name: '', secret, createdAt: 0, revokedAt: null }))
  const authenticate = createAuthenticateLegacy({
    legacyKeys: {
      findByHash(hashes) {
        world.lookups += 1
        return store.legacyKeys.findByHash(hashes)
      },
    },
    keys,
    cache: createCredentialCache({ clock: { now: () => world.now }, random: seededRandom(1) }),
  })
  for (const header of ['pi_legacy_key', 'pi_legacy_key']) expect(await authenticate(header)).toEqual({ keyId: 'lk_1' })
  expect(world.lookups).toBe(1)
  for (const header of ['other', 'other', 'Bearer other']) expect(await authenticate(header)).toBe(null)
  expect(world.lookups).toBe(4)
  await store.transaction((tx) => tx.legacyKeys.revoke('lk_1', 0))
  world.now = credentialCacheMs
  expect(await authenticate('pi_legacy_key')).toBe(null)
})

it('a memory that is full starts anew and goes on answering', () => {
  const recent = createCredentialCache<number>({ clock: { now: () => 0 }, random: seededRandom(1) })
  const keep = recent.startRead()
  for (let n = 0; n <= 1_000; n += 1) keep(`header ${n}`, n)
  expect(recent.find('header 0')).toBeUndefined()
  expect(recent.find('header 1000')).toBe(1_000)
})
