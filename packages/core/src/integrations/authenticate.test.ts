import { expect, it, vi } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { openStore } from '../../test/support/store.js'
import { parseAddress } from '../internal/parameters.js'
import { hashApiSecret, issueSecret, parseMasterKey } from '../secrets/keys.js'
import type { AcceptedSecret } from './authenticate.js'
import { createAuthenticate, createCredentialCache, credentialCacheMs, parseBasic } from './authenticate.js'
import type { IntegrationRecord } from './integration.js'

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
  expect(nobody.secret).toHaveLength(issueSecret('api', seededRandom(1)).length)
})

const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const keys = parseMasterKey(`${newKey},${oldKey}`)
const current = hashApiSecret(keys.current, address, 'current')
const foreign = hashApiSecret(keys.current, `0x${'cd'.repeat(20)}`, 'current')
const previousApiSecret = { ...hashApiSecret(keys.current, address, 'previous'), until: 1_000 }
const makeHeader = (secret: string, who = address) => `Basic ${encode(`${who}:${secret}`)}`
const caller = { integrationAddress: address }

/** An integration whose previous secret is valid for a second, and the calls of its look-up. */
async function setup(given: Partial<IntegrationRecord> = {}) {
  const store = openStore()
  const record = {
    ...{ address, name: '', notificationUrl: null, enabled: true, createdAt: 0 },
    ...{ apiSecret: current, previousApiSecret, signingSecret: { keyVersion: 0, sealed: '' } },
    ...{ preparedSigningSecret: null, previousSigningSecret: null, ...given },
  }
  await store.transaction((tx) => tx.integrations.insert(record))
  const clock = { time: 0, now: () => clock.time }
  const random = seededRandom(1)
  const cache = createCredentialCache<AcceptedSecret>({ clock, random })
  const credentials = vi.fn(store.integrations.credentials)
  const authenticate = createAuthenticate({ integrations: { credentials }, keys, clock, random, cache })
  return { store, clock, cache, credentials, authenticate }
}

it('authenticate resolves the caller, lowercased, whatever the case of the username', async () => {
  const { authenticate } = await setup()
  expect(await authenticate(makeHeader('current', address.toUpperCase().replace('0X', '0x')))).toEqual(caller)
})

it.each<[string, Partial<IntegrationRecord>, string]>([
  ['a wrong secret', {}, 'wrong'],
  ['a disabled integration', { enabled: false }, 'current'],
  ['an integration without an API secret', { apiSecret: null, previousApiSecret: null }, 'current'],
  ['an integration without an API secret, with its previous one', { apiSecret: null }, 'previous'],
  ['a hash under an unknown master key', { apiSecret: { ...current, keyVersion: 7 } }, 'current'],
  ["another integration's hash of the same secret", { apiSecret: foreign }, 'current'],
  ['a truncated stored hash', { apiSecret: { ...current, hash: '' } }, 'current'],
])('authenticate rejects %s', async (_what, given, secret) => {
  const { authenticate } = await setup(given)
  expect(await authenticate(makeHeader(secret))).toBeNull()
})

it('authenticate looks up exactly once for every request, also for a malformed header', async () => {
  const { authenticate, credentials } = await setup()
  const unknown = makeHeader('current', `0x${'cd'.repeat(20)}`)
  const headers = [undefined, 'Basic !!!', `${address}:current`, unknown, makeHeader('wrong'), makeHeader('wrong')]
  for (const [index, header] of headers.entries()) {
    expect(await authenticate(header)).toBeNull()
    expect(credentials).toHaveBeenCalledTimes(index + 1)
  }
})

it('a header that opened is spared the look-up for as long as recentMs says, and not a millisecond more', async () => {
  const { clock, authenticate, credentials } = await setup()
  for (const now of [0, 1, credentialCacheMs - 1]) {
    clock.time = now
    expect(await authenticate(makeHeader('current'))).toEqual(caller)
  }
  expect(credentials).toHaveBeenCalledTimes(1)
  clock.time = credentialCacheMs
  await authenticate(makeHeader('current'))
  expect(credentials).toHaveBeenCalledTimes(2)
})

it('a header that opened is not kept when something was changed while it was looked up', async () => {
  const { store, cache, authenticate, credentials } = await setup()
  credentials.mockImplementationOnce(async (...asked) => {
    const found = await store.integrations.credentials(...asked)
    await store.transaction((tx) => tx.integrations.update(address, { enabled: false }))
    cache.forget()
    return found
  })
  expect(await authenticate(makeHeader('current'))).not.toBeNull()
  expect(await authenticate(makeHeader('current'))).toBeNull()
})

it('a header that opened opens with the previous secret until its last millisecond, also from memory', async () => {
  const { clock, authenticate, credentials } = await setup()
  for (const now of [1_000 - credentialCacheMs + 10, 999]) {
    clock.time = now
    expect(await authenticate(makeHeader('previous'))).not.toBeNull()
  }
  expect(credentials).toHaveBeenCalledTimes(1)
  clock.time = 1_000
  expect(await authenticate(makeHeader('previous'))).toBeNull()
})

it.each([1, 200, 9_999])('a header that opened is looked up again when the clock went back by %i ms', async (back) => {
  const { clock, authenticate, credentials } = await setup()
  const lookUps: number[] = []
  for (const now of [10_000, 10_240, 10_240 - back]) {
    clock.time = now
    await authenticate(makeHeader('current'))
    lookUps.push(credentials.mock.calls.length)
  }
  expect(lookUps).toEqual([1, 1, 2])
})

it('a header that opened does not open for another header', async () => {
  const { authenticate, credentials } = await setup()
  await authenticate(makeHeader('current'))
  for (const header of [makeHeader('Current'), `${makeHeader('current')}=`, ` ${makeHeader('current')}`, '', null])
    expect(await authenticate(header)).toBeNull()
  expect(credentials).toHaveBeenCalledTimes(6)
})

it('a memory that is full starts anew and goes on answering', async () => {
  const recent = createCredentialCache<number>({ clock: { now: () => 0 }, random: seededRandom(1) })
  for (let n = 0; n <= 1_000; n += 1) await recent.read(`header ${n}`, async () => n)
  expect(recent.find('header 0')).toBeUndefined()
  expect(recent.find('header 1000')).toBe(1_000)
})
