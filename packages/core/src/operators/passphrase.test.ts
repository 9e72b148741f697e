import { scryptSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { checkPassphrase, createDummyHash, hashPassphrase, owaspCost, verifyPassphrase } from './passphrase.js'

const cheap = { log2N: 4, r: 1, p: 1 }
const random = seededRandom('passphrases')

test("OWASP's cost: N = 2^17, r = 8, p = 1, with a salt of 16 bytes, stored beside the hash", async () => {
  expect(owaspCost).toEqual({ log2N: 17, r: 8, p: 1 })
  const stored = await hashPassphrase('correct horse battery', owaspCost, random)
  expect(stored).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$[A-Za-z0-9_-]{22}\$[A-Za-z0-9_-]{43}$/)
  const verified = { matches: true, isOutdated: false }
  expect(await verifyPassphrase('correct horse battery', stored, owaspCost)).toEqual(verified)
  expect((await verifyPassphrase('correct horse batterz', stored, owaspCost)).matches).toBe(false)
})

test('the stored hash is what scrypt derives from passphrase and salt', async () => {
  const stored = await hashPassphrase('correct horse battery', { log2N: 4, r: 2, p: 3 }, random)
  const [, , , salt = '', hash] = stored.split('$')
  const derived = scryptSync('correct horse battery', Buffer.from(salt, 'base64url'), 32, { N: 16, r: 2, p: 3 })
  expect(derived.toString('base64url')).toBe(hash)
})

test('one passphrase has another hash each time, and both match', async () => {
  const hash = () => hashPassphrase('a'.repeat(12), cheap, random)
  const hashes = [await hash(), await hash()]
  expect(new Set(hashes).size).toBe(2)
  for (const hash of hashes) expect((await verifyPassphrase('a'.repeat(12), hash, cheap)).matches).toBe(true)
})

test.each([
  { log2N: 5, r: 1, p: 1 },
  { log2N: 4, r: 2, p: 1 },
  { log2N: 4, r: 1, p: 2 },
])('a hash with other parameters matches and is outdated: %o', async (cost) => {
  const stored = await hashPassphrase('correct horse battery', cost, random)
  expect(await verifyPassphrase('correct horse battery', stored, cheap)).toEqual({ matches: true, isOutdated: true })
})

test('letters that a keyboard composed in another way match', async () => {
  const stored = await hashPassphrase('Stra\u00dfencaf\u00e9 12', cheap, random)
  expect((await verifyPassphrase('Stra\u00dfencafe\u0301 12', stored, cheap)).matches).toBe(true)
})

test.each([
  ['11 characters', 'a'.repeat(11), 'A passphrase has at least 12 characters.'],
  ['none', '', 'A passphrase has at least 12 characters.'],
  ['11 letters of two code units', '\u{1f511}'.repeat(11), 'A passphrase has at least 12 characters.'],
  ['257 characters', 'a'.repeat(257), 'A passphrase has at most 256 characters.'],
  ['more than are read', 'a'.repeat(100_000), 'A passphrase has at most 256 characters.'],
  ['few that are many when composed', '\ufdfa'.repeat(100), 'A passphrase has at most 256 characters.'],
])('a new passphrase of %s is rejected', (_, passphrase, message) => {
  expect(() => checkPassphrase(passphrase)).toThrow(message)
})

test.each([12, 256])('a new passphrase of %i characters is accepted', (length) => {
  checkPassphrase('a'.repeat(length))
  checkPassphrase('\u{1f511}'.repeat(length))
})

test('a passphrase longer than is read matches nothing, not even the hash of none', async () => {
  const stored = await hashPassphrase('', cheap, random)
  expect((await verifyPassphrase('a'.repeat(100_000), stored, cheap)).matches).toBe(false)
})

test('no passphrase matches the dummy hash, and it has the same parameters', async () => {
  const dummy = createDummyHash(cheap, random)
  expect(await verifyPassphrase('correct horse battery', dummy, cheap)).toEqual({ matches: false, isOutdated: false })
})

test('a stored text that is no hash is an error without the text', async () => {
  const error = await verifyPassphrase('correct horse battery', 'plain secret', cheap).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(TypeError)
  expect(String(error)).not.toContain('plain secret')
})
