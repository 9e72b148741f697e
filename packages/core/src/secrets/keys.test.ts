import { expect, it, vi } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { issueSecret, type KeyPurpose, parseMasterKey } from './keys.js'
import { checkMasterKey, openSecret, sealSecret } from './seal.js'

const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const keys = parseMasterKey(oldKey)
const a = `0x${'a'.repeat(40)}`
const b = `0x${'b'.repeat(40)}`
const unreadable = expect.objectContaining({ code: 'ERR_SECRET_UNREADABLE' })

it('parseMasterKey reads hex and base64url as the same key', () => {
  const base64url = Buffer.from(oldKey, 'hex').toString('base64url')
  expect(parseMasterKey(base64url).current.version).toBe(keys.current.version)
})

it.each([
  ['nothing', ''],
  ['a short key', 'a1b2'],
  ['31 bytes', Buffer.alloc(31, 7).toString('base64url')],
  ['33 bytes', Buffer.alloc(33, 7).toString('base64url')],
  ['a passphrase', 'correct horse battery staple'],
  ['zeros', '0'.repeat(64)],
  ['an empty second key', `${oldKey},`],
  ['the same key twice', `${oldKey},${oldKey}`],
])('parseMasterKey rejects %s without repeating it', (_what, text) => {
  expect(() => parseMasterKey(text)).toThrow(RangeError)
  try {
    parseMasterKey(text)
  } catch (error) {
    if (text.length > 3) expect(String(error)).not.toContain(text)
  }
})

it('parseMasterKey derives a different key for every purpose', () => {
  const purposes: Record<KeyPurpose, 0> = {
    ...{ 'api-secret': 0, 'legacy-key': 0, 'signing-secret': 0, cursor: 0, audit: 0, 'audit-url': 0, email: 0 },
    ...{ 'email-hash': 0, 'data-key': 0, csrf: 0, 'sign-in': 0, 'move-file': 0, 'archive-file': 0 },
  }
  const derive = (purpose: string) => Buffer.from(keys.current.derive(purpose as KeyPurpose)).toString('hex')
  expect(new Set(Object.keys(purposes).map(derive)).size).toBe(13)
})

it('sealSecret opens for its own row with any listed key', () => {
  const sealed = sealSecret(keys, seededRandom(1), a, 'whsec ✓')
  expect(openSecret(parseMasterKey(`${newKey},${oldKey}`), a, sealed)).toBe('whsec ✓')
})

it('sealSecret does not open in another row, with another key, or under another key version', () => {
  const sealed = sealSecret(keys, seededRandom(1), a, 'secret')
  expect(() => openSecret(keys, b, sealed)).toThrow(unreadable)
  expect(() => openSecret(parseMasterKey(newKey), a, sealed)).toThrow(unreadable)
  expect(() => openSecret(keys, a, { ...sealed, keyVersion: 1 })).toThrow(unreadable)
})

it('sealSecret does not open after any flipped bit, nor with a shortened tag', () => {
  const { keyVersion, sealed } = sealSecret(keys, seededRandom(1), a, 'secret')
  const bytes = Buffer.from(sealed, 'base64url')
  for (let index = 0; index < bytes.length; index += 1) {
    const flipped = Buffer.from(bytes)
    flipped[index] = (flipped[index] ?? 0) ^ 1
    expect(() => openSecret(keys, a, { keyVersion, sealed: flipped.toString('base64url') })).toThrow(unreadable)
  }
  const shorter = bytes.subarray(0, -12).toString('base64url')
  expect(() => openSecret(keys, a, { keyVersion, sealed: shorter })).toThrow(unreadable)
  expect(() => openSecret(keys, a, { keyVersion, sealed: '' })).toThrow(unreadable)
})

it('sealSecret never makes the same bytes twice', () => {
  const random = seededRandom(1)
  expect(sealSecret(keys, random, a, 's').sealed).not.toBe(sealSecret(keys, random, a, 's').sealed)
})

it('issued secrets carry 32 random bytes and tell what they are for', () => {
  const random = seededRandom(1)
  expect(issueSecret('api', random)).toMatch(/^pi_api_[A-Za-z0-9_-]{43}$/)
  expect(issueSecret('legacy', random)).toMatch(/^pi_legacy_[A-Za-z0-9_-]{43}$/)
  expect(issueSecret('whsec', random)).toMatch(/^pi_whsec_[A-Za-z0-9_-]{43}$/)
})

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
  const sealingKeys = vi.fn(async (_now: number) => [])
  await checkMasterKey({ sealingKeys }, parseMasterKey(newKey), { now: () => 999 })
  expect(sealingKeys).toHaveBeenCalledExactlyOnceWith(999)
})
