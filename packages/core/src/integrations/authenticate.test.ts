import { expect, it } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { openStore } from '../../test/support/store.js'
import { createAuthenticateLegacy } from '../legacy/keys.js'
import { parseAddress } from '../payments/read-api.js'
import { hashApiSecret, hashLegacyKey, issueApiSecret, parseMasterKey } from '../secrets/keys.js'
import {
  type CachedCaller,
  createAuthenticate,
  createCredentialCache,
  credentialCacheMs,
  parseBasic,
} from './authenticate.js'
import type { IntegrationRecord, StoredCredentials } from './integration.js'

const address = `0x${'ab'.repeat(20)}`
const encode = (text: string) => Buffer.from(text, 'utf8').toString('base64')
const nobody = { isWellFormed: false, address: `0x${'x'.repeat(40)}`, secret: 'x'.repeat(50) }
const good = encode(`${address}:secret`)

it.each([
  ['the plain form', `Basic ${good}`],
  ['a scheme in any case', `bAsIc ${good}`],
  ['several spaces', `Basic   ${good}`],
  ['an address in upper case', `Basic ${encode(`0x${'AB'.repeat(20)}:secret`)}`],
])('parseBasic accepts %s', (_what, header) =>
  expect(parseBasic(header)).toEqual({ isWellFormed: true, address, secret: 'secret' }),
)

it('parseBasic splits at the first colon, so a secret may hold colons', () => {
  expect(parseBasic(`Basic ${encode(`${address}:a:b:`)}`)).toEqual({ isWellFormed: true, address, secret: 'a:b:' })
})

it.each([
  ['nothing', undefined],
  ['null', null],
  ['an empty value', ''],
  ['the raw address:secret form', `${address}:secret`],
  ['the raw form under the scheme', `Basic ${address}:secret`],
  ['another scheme', `Bearer ${good}`],
  ['no space', `Basic${good}`],
  ['a tab', `Basic\t${good}`],
  ['a trailing space', `Basic ${good} `],
  ['two credentials', `Basic ${good}, Basic ${good}`],
  ['rubbish after the base64', `Basic ${good}!!`],
  ['base64url', `Basic ${encode(`${address}:\u00ff\u00ff\u00ff`).replaceAll('/', '_').replaceAll('+', '-')}-_`],
  ['missing padding', `Basic ${encode(`${address}:abc`).replace(/=+$/, '')}`],
  ['no colon', `Basic ${encode(address)}`],
  ['an empty secret', `Basic ${encode(`${address}:`)}`],
  ['a prefix 0X', `Basic ${encode(`0X${'ab'.repeat(20)}:secret`)}`],
  ['an address in full-width digits', `Basic ${encode(`0x${'\uff11'.repeat(40)}:secret`)}`],
  ['a space before the address', `Basic ${encode(` ${address}:secret`)}`],
  ['a byte order mark', `Basic ${encode(`\ufeff${address}:secret`)}`],
  ['long colon', `Basic ${Buffer.concat([Buffer.from(address), Buffer.from([0xc0, 0xba, 0x61])]).toString('base64')}`],
  [
    'bits after the end',
    `Basic ${encode(`${address}:abcd`).replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`)}`,
  ],
  ['padding in the middle', `Basic ${encode(`${address}:a`)}${encode('b')}`],
  ['a short address', `Basic ${encode('0xab:secret')}`],
  ['a NUL in the secret', `Basic ${encode(`${address}:a\u0000b`)}`],
  ['a line feed in the secret', `Basic ${encode(`${address}:a\nb`)}`],
  ['an overlong value', `Basic ${encode(`${address}:${'x'.repeat(600)}`)}`],
])('parseBasic rejects %s', (_what, header) => expect(parseBasic(header)).toEqual(nobody))

it('parseBasic puts somebody in place of a malformed header under whose address nothing can be stored, as long as a real one', () => {
  expect(() => parseAddress(nobody.address)).toThrow()
  expect(nobody.address).toHaveLength(address.length)
  expect(nobody.secret).toHaveLength(issueApiSecret(seededRandom(1)).length)
})

const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const keys = parseMasterKey(`${newKey},${oldKey}`)
const record: IntegrationRecord = {
  address,
  name: '',
  notificationUrl: null,
  enabled: true,
  apiSecret: hashApiSecret(keys.current, address, 'current'),
  previousApiSecret: { ...hashApiSecret(keys.current, address, 'previous'), until: 1_000 },
  signingSecret: { keyVersion: 0, sealed: '' },
  preparedSigningSecret: null,
  previousSigningSecret: null,
  createdAt: 0,
}

function setup(stored: IntegrationRecord | null, now = 0) {
  const clock = { now: () => now }
  const random = seededRandom(1)
  const lookups: string[] = []
  const authenticate = createAuthenticate({
    integrations: {
      async credentials(key, absent) {
        lookups.push(key)
        const found = stored?.address === key ? stored : null
        return {
          usable: found?.enabled === true && found.apiSecret !== null,
          current: found?.apiSecret ?? absent.current,
          previous: found?.previousApiSecret ?? { ...absent.previous, until: 0 },
        }
      },
    },
    keys,
    clock,
    random,
    cache: createCredentialCache({ clock, random }),
  })
  const call = (secret: string, who = address) =>
    authenticate(`Basic ${Buffer.from(`${who}:${secret}`).toString('base64')}`)
  return { authenticate, call, lookups }
}

it('authenticate resolves the caller, lowercased, whatever the case of the username', async () => {
  const { call } = setup(record)
  expect(await call('current', address.toUpperCase().replace('0X', '0x'))).toEqual({ integrationAddress: address })
})

it('authenticate accepts the previous secret until its last millisecond, and not after', async () => {
  expect(await setup(record, 999).call('previous')).not.toBeNull()
  expect(await setup(record, 1_000).call('previous')).toBeNull()
})

it.each([
  ['an unknown address', null, 'current'],
  ['a wrong secret', record, 'wrong'],
  ['a disabled integration', { ...record, enabled: false }, 'current'],
  ['an integration without an API secret', { ...record, apiSecret: null, previousApiSecret: null }, 'current'],
  ['an integration without an API secret, with its previous one', { ...record, apiSecret: null }, 'previous'],
  [
    'a hash under an unknown master key',
    { ...record, apiSecret: { ...hashApiSecret(keys.current, address, 'current'), keyVersion: 7 } },
    'current',
  ],
  [
    "another integration's hash of the same secret",
    { ...record, apiSecret: hashApiSecret(keys.current, `0x${'cd'.repeat(20)}`, 'current') },
    'current',
  ],
  ['a truncated stored hash', { ...record, apiSecret: { keyVersion: keys.current.version, hash: '' } }, 'current'],
])('authenticate rejects %s', async (_what, stored, secret) => {
  expect(await setup(stored).call(secret)).toBeNull()
})

it('authenticate looks up exactly once for every request, also for a malformed header', async () => {
  const { authenticate, lookups } = setup(record)
  expect(await authenticate(undefined)).toBeNull()
  expect(await authenticate('Basic !!!')).toBeNull()
  expect(await authenticate(`${address}:current`)).toBeNull()
  expect(lookups).toHaveLength(3)
})

const key = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')
const integrationAddress = `0x${'ab'.repeat(20)}`
const makeHeader = (secret: string) => `Basic ${Buffer.from(`${integrationAddress}:${secret}`).toString('base64')}`
const stored: StoredCredentials = {
  usable: true,
  current: hashApiSecret(key.current, integrationAddress, 'current'),
  previous: { ...hashApiSecret(key.current, integrationAddress, 'previous'), until: 1_000 },
}

function setUpCache() {
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
    keys: key,
    clock,
    random,
    cache: recent,
  })
  return { world, recent, authenticate }
}

it('a header that opened is spared the look-up for as long as recentMs says, and not a millisecond more', async () => {
  const { world, authenticate } = setUpCache()
  for (const now of [0, 1, credentialCacheMs - 1]) {
    world.now = now
    expect(await authenticate(makeHeader('current'))).toEqual({ integrationAddress })
  }
  expect(world.lookups).toBe(1)
  world.now = credentialCacheMs
  await authenticate(makeHeader('current'))
  expect(world.lookups).toBe(2)
})

it('a header that opened is not kept when something was changed while it was looked up', async () => {
  const { world, recent, authenticate } = setUpCache()
  world.onLookup = async () => {
    world.credentials = { ...stored, usable: false }
    recent.forget()
  }
  expect(await authenticate(makeHeader('current'))).not.toBeNull()
  expect(await authenticate(makeHeader('current'))).toBeNull()
})

it('a header that opened opens with the previous secret until its last millisecond, also from memory', async () => {
  const { world, authenticate } = setUpCache()
  world.now = 1_000 - credentialCacheMs + 10
  expect(await authenticate(makeHeader('previous'))).not.toBeNull()
  world.now = 999
  expect(await authenticate(makeHeader('previous'))).not.toBeNull()
  expect(world.lookups).toBe(1)
  world.now = 1_000
  expect(await authenticate(makeHeader('previous'))).toBeNull()
})

it.each([1, 200, 9_999])(
  'a header that opened is looked up again when the clock was set back by %i ms',
  async (back) => {
    const { world, authenticate } = setUpCache()
    world.now = 10_000
    await authenticate(makeHeader('current'))
    world.now = 10_240
    await authenticate(makeHeader('current'))
    expect(world.lookups).toBe(1)
    world.now = 10_240 - back
    await authenticate(makeHeader('current'))
    expect(world.lookups).toBe(2)
  },
)

it('a header that opened does not open for another header', async () => {
  const { world, authenticate } = setUpCache()
  await authenticate(makeHeader('current'))
  for (const header of [makeHeader('Current'), `${makeHeader('current')}=`, ` ${makeHeader('current')}`, '', null])
    expect(await authenticate(header)).toBeNull()
  expect(world.lookups).toBe(6)
})

it('every rejection costs a look-up, however often it comes', async () => {
  const { world, authenticate } = setUpCache()
  for (let n = 1; n <= 5; n += 1) {
    expect(await authenticate(makeHeader('wrong'))).toBeNull()
    expect(world.lookups).toBe(n)
  }
})

it('a legacy key that opened is spared the look-up as long, and one that was rejected is not', async () => {
  const world = { now: 0, lookups: 0 }
  const secret = hashLegacyKey(key.current, 'pi_legacy_key')
  const store = openStore()
  await store.transaction((tx) => tx.legacyKeys.insert({ id: 'lk_1', name: '', secret, createdAt: 0, revokedAt: null }))
  const authenticate = createAuthenticateLegacy({
    legacyKeys: {
      findByHash(hashes) {
        world.lookups += 1
        return store.legacyKeys.findByHash(hashes)
      },
    },
    keys: key,
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
