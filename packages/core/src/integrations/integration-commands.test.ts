import { expect, test } from 'vitest'
import { after, before, both, getAddress, oldKey, setUpIntegrations } from '../../test/support/integration-setup.js'
import { seededRandom } from '../../test/support/seeded-random.js'
import { createSealEmail, openEmailKey } from '../identity/emails.js'
import { type MasterKey, parseMasterKey } from '../secrets/keys.js'
import { openSecret } from '../secrets/seal.js'

const [a, b] = [getAddress('a'), getAddress('b')]

/** A URL of which the audit log shows the origin alone. */
const fingerprint = (origin: string) => expect.stringMatching(new RegExp(`^${origin}/\\[[0-9a-f]{12}\\]$`))

test('every command writes its record, without secrets and without the path and the query of a URL', async () => {
  const { commands, log } = setUpIntegrations()
  await commands.create({ address: a, name: 'shop', notificationUrl: 'https://old.example/hook?token=canary' })
  await commands.create({ address: b })
  await commands.setNotificationUrl(a, 'https://new.example/hook?k=canary')
  await commands.setNotificationUrl(a, null)
  await commands.setEnabled(a, false)
  await commands.setEnabled(a, true)
  const { key } = await commands.legacy.create({ name: 'till' })
  await commands.legacy.revoke(key.id)
  const [old, next] = [fingerprint('https://old.example'), fingerprint('https://new.example')]
  expect(log()).toEqual([
    ['integration.created', a, { name: 'shop', url: old }],
    ['integration.created', b, { name: '', url: null }],
    ['integration.url_set', a, { from: old, to: next }],
    ['integration.url_set', a, { from: next, to: null }],
    ['integration.disabled', a, {}],
    ['integration.enabled', a, {}],
    ['legacy_key.created', key.id, { name: 'till' }],
    ['legacy_key.revoked', key.id, {}],
  ])
})

test('a command that fails writes no record', async () => {
  const { commands, log } = setUpIntegrations()
  await commands.create({ address: a })
  const missing = { code: 'ERR_INTEGRATION_NOT_FOUND' }
  await expect(commands.create({ address: a })).rejects.toMatchObject({ code: 'ERR_INTEGRATION_EXISTS' })
  await expect(commands.setEnabled(b, false)).rejects.toMatchObject(missing)
  await expect(commands.setNotificationUrl(b, null)).rejects.toMatchObject(missing)
  for (const name of ['a\u001b[2Jb', 'a\nb', 'a\u009b31m', 'a\u2028b', 'a\u202eb', '\u0000', 'a\ud800']) {
    const invalid = { code: 'ERR_NAME_INVALID' }
    await expect(commands.create({ address: b, name })).rejects.toMatchObject(invalid)
    await expect(commands.legacy.create({ name })).rejects.toMatchObject(invalid)
  }
  await expect(commands.setNotificationUrl(a, 'ftp://x')).rejects.toMatchObject({ code: 'ERR_URL_INVALID' })
  await expect(commands.rotateApiSecret(b)).rejects.toMatchObject(missing)
  await expect(commands.legacy.revoke('lk_none')).rejects.toMatchObject({ code: 'ERR_LEGACY_KEY_NOT_FOUND' })
  expect(log()).toHaveLength(1)
})

test('a secret is not rotated when its record cannot be kept', async () => {
  const { commands, store, stored, log } = setUpIntegrations()
  await commands.create({ address: a })
  const record = await stored(a)
  store.failures.push(new Error('disk'))
  await expect(commands.rotateApiSecret(a)).rejects.toThrow('disk')
  expect(await stored(a)).toEqual(record)
  expect(log()).toHaveLength(1)
})

/** Three integrations and the key of e-mail addresses of the old key, and the commands of both keys. */
async function rotated() {
  const made = setUpIntegrations()
  await openEmailKey(made.store.dataKeys, before, seededRandom('e-mail'))
  const secrets = new Map<string, string>()
  for (const name of ['a', 'b', 'c']) {
    const { signingSecret } = await made.commands.create({ address: getAddress(name) })
    secrets.set(getAddress(name), signingSecret)
  }
  const commands = made.commandsWith(both)
  return { ...made, commands, secrets }
}

test('resealing prepared and previous secrets follow; a previous one whose grace time is over leaves the database', async () => {
  const { commands, commandsWith, clock, stored } = setUpIntegrations()
  const kept: string[] = []
  for (const [address, graceMs] of Object.entries({ [a]: 60_000, [b]: 59_999 })) {
    kept.push((await commands.create({ address })).signingSecret)
    kept.push((await commands.prepareSigningSecret(address)).signingSecret)
    await commands.activateSigningSecret(address, { graceMs })
    kept.push((await commands.prepareSigningSecret(address)).signingSecret)
  }
  await clock.advance(59_999)
  expect(await commandsWith(both).resealSecrets()).toMatchObject({ resealed: 5 })
  const records = [await stored(a), await stored(b)]
  const opened = records.flatMap(({ address, previousSigningSecret, signingSecret, preparedSigningSecret }) =>
    [previousSigningSecret, signingSecret, preparedSigningSecret].map(
      (sealed) => sealed && openSecret(after, address, sealed),
    ),
  )
  expect(opened).toEqual(kept.map((secret, index) => (index === 3 ? null : secret)))
  expect(records[0]?.previousSigningSecret?.until).toBe(clock.now() + 1)
  expect(await commandsWith(both).resealSecrets()).toMatchObject({ resealed: 0 })
  expect([await stored(a), await stored(b)]).toEqual(records)
})

test('resealing seals every data key with the newest master key, and hashes of e-mail addresses stay the same', async () => {
  const { commands, store } = await rotated()
  const hashOf = async (keys: MasterKey) => {
    const random = seededRandom('e-mail')
    return createSealEmail(await openEmailKey(store.dataKeys, keys, random), random)('a@b.example').key
  }
  const hash = await hashOf(before)
  expect(await commands.resealSecrets()).toMatchObject({ dataKeys: 1 })
  expect(await hashOf(after)).toBe(hash)
  expect(await commands.resealSecrets()).toMatchObject({ dataKeys: 0 })
})

test('resealing names what still needs an older key', async () => {
  const { commands, clock } = await rotated()
  const kept = await commands.legacy.create({ name: 'new' })
  const olderApiSecrets = ['a', 'b', 'c'].map(getAddress)
  expect(await commands.resealSecrets()).toMatchObject({ olderApiSecrets, olderLegacyKeys: [] })
  await commands.rotateApiSecret(a, { graceMs: 60_000 })
  await commands.rotateApiSecret(b)
  expect(await commands.resealSecrets()).toMatchObject({ olderApiSecrets: [a, getAddress('c')] })
  await clock.advance(60_000)
  expect(await commands.resealSecrets()).toMatchObject({ olderApiSecrets: [getAddress('c')] })
  expect(kept.key.revokedAt).toBeNull()
})

test('resealing names legacy keys that are not revoked', async () => {
  const { commandsWith } = setUpIntegrations()
  const old = await commandsWith(before).legacy.create({ name: 'old' })
  const revoked = await commandsWith(before).legacy.create({ name: 'revoked' })
  await commandsWith(before).legacy.revoke(revoked.key.id)
  const report = { resealed: 0, dataKeys: 0, olderApiSecrets: [], olderLegacyKeys: [old.key.id] }
  expect(await commandsWith(both).resealSecrets()).toEqual(report)
})

test('resealing does all of them or none: one that cannot be opened stops it', async () => {
  const { commands, commandsWith, stored, log } = await rotated()
  const strange = parseMasterKey('f'.repeat(8) + oldKey.slice(8))
  await commandsWith(strange).create({ address: getAddress('e') })
  const count = log().length
  await expect(commands.resealSecrets()).rejects.toMatchObject({ code: 'ERR_SECRET_UNREADABLE' })
  expect((await stored(a)).signingSecret.keyVersion).toBe(before.current.version)
  expect(log()).toHaveLength(count)
})
