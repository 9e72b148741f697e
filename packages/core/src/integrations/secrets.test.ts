import { expect, test } from 'vitest'
import { before, getAddress, setUpIntegrations } from '../../test/support/integration-setup.js'
import { openSecret } from '../secrets/seal.js'

const address = getAddress('a')
const day = 86_400_000

async function created() {
  const setup = setUpIntegrations()
  const { signingSecret: first } = await setup.commands.create({ address })
  const secrets = async () => {
    const { signingSecret, preparedSigningSecret, previousSigningSecret } = await setup.stored(address)
    const [active, prepared, previous] = [signingSecret, preparedSigningSecret, previousSigningSecret].map(
      (sealed) => sealed && openSecret(before, address, sealed),
    )
    return { active, prepared, previous }
  }
  const actions = () =>
    setup.log().flatMap(([action, , details], at) => (at > 0 ? [[`${action}`.slice(27), details]] : []))
  return { ...setup, first, secrets, actions }
}

test('a prepared secret is sealed beside the active one, which still signs', async () => {
  const { commands, first, secrets, stored, actions } = await created()
  const { signingSecret: next, isNew } = await commands.prepareSigningSecret(address.toUpperCase().replace('0X', '0x'))
  expect(isNew).toBe(true)
  expect(next).toMatch(/^pi_whsec_/)
  expect(next).not.toBe(first)
  expect(await secrets()).toEqual({ active: first, prepared: next, previous: null })
  expect(JSON.stringify(await stored(address))).not.toContain(next)
  expect(actions()).toEqual([['prepared', {}]])
})

test('preparing again shows the same secret, on record as shown', async () => {
  const { commands, actions } = await created()
  const { signingSecret } = await commands.prepareSigningSecret(address)
  expect(await commands.prepareSigningSecret(address)).toEqual({ signingSecret, isNew: false })
  expect(actions()).toEqual(['prepared', 'shown'].map((action) => [action, {}]))
})

test('activating makes the prepared secret active, and keeps the one before for a day', async () => {
  const { commands, clock, first, secrets, actions } = await created()
  const { signingSecret: next } = await commands.prepareSigningSecret(address)
  expect(await commands.activateSigningSecret(address)).toEqual({ previousUntil: clock.now() + day })
  expect(await secrets()).toEqual({ active: next, prepared: null, previous: first })
  expect(actions().at(-1)).toEqual(['activated', { graceMs: day }])
})

test('preparing within a grace time leaves it alone; activating replaces the previous secret', async () => {
  const { commands, clock, first, secrets } = await created()
  const { signingSecret: second } = await commands.prepareSigningSecret(address)
  await commands.activateSigningSecret(address)
  const { signingSecret: third } = await commands.prepareSigningSecret(address)
  expect(await secrets()).toEqual({ active: second, prepared: third, previous: first })
  await clock.advance(1_000)
  const { previousUntil } = await commands.activateSigningSecret(address, { graceMs: 5_000 })
  expect(previousUntil).toBe(clock.now() + 5_000)
  expect(await secrets()).toEqual({ active: third, prepared: null, previous: second })
})

test('aborting drops the prepared secret; the next one is another', async () => {
  const { commands, first, secrets, actions } = await created()
  const { signingSecret: dropped } = await commands.prepareSigningSecret(address)
  await commands.abortSigningSecret(address)
  expect(await secrets()).toEqual({ active: first, prepared: null, previous: null })
  expect(actions().at(-1)).toEqual(['aborted', {}])
  expect((await commands.prepareSigningSecret(address)).signingSecret).not.toBe(dropped)
})

test('a list says that a secret is prepared, and until when the previous one is used', async () => {
  const { commands, clock } = await created()
  const view = async () => {
    const [integration] = await commands.list()
    return [integration?.signingSecretPrepared, integration?.previousSigningSecretUntil]
  }
  expect(await view()).toEqual([false, null])
  await commands.prepareSigningSecret(address)
  expect(await view()).toEqual([true, null])
  await commands.activateSigningSecret(address, { graceMs: 1_000 })
  expect(await view()).toEqual([false, clock.now() + 1_000])
  await clock.advance(1_000)
  expect(await view()).toEqual([false, null])
})

test('what cannot be done changes nothing and is not on record', async () => {
  const { commands, stored, actions } = await created()
  const record = await stored(address)
  const unprepared = { code: 'ERR_SIGNING_SECRET_NOT_PREPARED', message: expect.stringContaining('prepare one first') }
  await expect(commands.activateSigningSecret(address)).rejects.toMatchObject(unprepared)
  await expect(commands.abortSigningSecret(address)).rejects.toMatchObject(unprepared)
  await expect(commands.activateSigningSecret(address, { graceMs: -1 })).rejects.toThrow('graceMs is -1')
  await expect(commands.activateSigningSecret(address, { graceMs: 0.5 })).rejects.toThrow(RangeError)
  const unknown = { code: 'ERR_INTEGRATION_NOT_FOUND' }
  for (const command of [
    ...(['get', 'endPreviousApiSecret', 'endPreviousSigningSecret'] as const),
    ...(['prepareSigningSecret', 'activateSigningSecret', 'abortSigningSecret'] as const),
  ])
    await expect(commands[command](getAddress('b'))).rejects.toMatchObject(unknown)
  expect(await stored(address)).toEqual(record)
  expect(actions()).toEqual([])
})

test('a prepared secret that cannot be opened is never activated; aborting drops it', async () => {
  const { commands, store, stored } = await created()
  await commands.prepareSigningSecret(address)
  const { preparedSigningSecret, signingSecret } = await stored(address)
  const preparedElsewhere = { preparedSigningSecret: { keyVersion: 1, sealed: 'c2VhbGVk' } }
  await store.transaction((tx) => tx.integrations.update(address, preparedElsewhere))
  const unreadable = {
    code: 'ERR_SECRET_UNREADABLE',
    message: expect.stringContaining('The prepared signing secret of integration'),
  }
  await expect(commands.prepareSigningSecret(address)).rejects.toMatchObject(unreadable)
  await expect(commands.activateSigningSecret(address)).rejects.toMatchObject(unreadable)
  expect(preparedSigningSecret).not.toBeNull()
  expect((await stored(address)).signingSecret).toEqual(signingSecret)
  await commands.abortSigningSecret(address)
  expect((await stored(address)).preparedSigningSecret).toBeNull()
})

const hour = 60 * 60_000

test('a rotation that keeps the previous API secret is rejected while that one is valid', async () => {
  const { commands, clock, stored, log } = await created()
  const rotate = () => commands.rotateApiSecret(address, { graceMs: hour, keepsPrevious: true })
  await rotate()
  expect((await commands.get(address)).previousApiSecretUntil).toBe(clock.now() + hour)
  const before = await stored(address)
  await expect(rotate()).rejects.toMatchObject({ code: 'ERR_PREVIOUS_API_SECRET' })
  expect(await stored(address)).toEqual(before)
  await commands.endPreviousApiSecret(address)
  expect((await commands.get(address)).previousApiSecretUntil).toBeNull()
  await rotate()
  await clock.advance(hour)
  await rotate()
  expect(log().map(([action]) => action)).toEqual([
    ...['integration.created', 'integration.api_secret_rotated', 'integration.previous_api_secret_ended'],
    ...['integration.api_secret_rotated', 'integration.api_secret_rotated'],
  ])
})

test('a prepared signing secret is shown once when asked so', async () => {
  const { commands } = await created()
  const prepare = () => commands.prepareSigningSecret(address, { isShownAgain: false })
  const { signingSecret } = await prepare()
  await expect(prepare()).rejects.toMatchObject({ code: 'ERR_SIGNING_SECRET_PREPARED' })
  expect(await commands.prepareSigningSecret(address)).toEqual({ signingSecret, isNew: false })
})

test('the previous signing secret is ended once, before its grace time ends', async () => {
  const { commands, stored, log } = await created()
  await expect(commands.endPreviousSigningSecret(address)).rejects.toMatchObject({ code: 'ERR_NO_PREVIOUS_SECRET' })
  await commands.prepareSigningSecret(address)
  await commands.activateSigningSecret(address, { graceMs: hour })
  await commands.endPreviousSigningSecret(address)
  expect((await stored(address)).previousSigningSecret).toBeNull()
  await expect(commands.endPreviousSigningSecret(address)).rejects.toMatchObject({ code: 'ERR_NO_PREVIOUS_SECRET' })
  expect(log().at(-1)).toEqual(['integration.previous_signing_secret_ended', address, {}])
})
